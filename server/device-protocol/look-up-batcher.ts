import { GroupCommit } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { phonesWaitingMax } from '#server/messages/limits.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { idlePollWindowMs, reportingPollWindowMs } from './limits.ts';
import { type FoundPoll, lookUpPoll, lookUpUnlockedPolls, type PollLookUp } from './look-up-polls.ts';

export interface LookUpBatcher {
  readonly lookUp: (poll: PollLookUp) => Promise<FoundPoll>;
}

/** Looks up polls in two group commits: one of polls that report, and one of idle polls, which wait longer. */
export function createLookUpBatcher(
  services: Pick<Runtime, 'database' | 'clock' | 'config' | 'metrics'>,
): LookUpBatcher {
  const createGroupCommit = (name: string, windowMs: number) =>
    new GroupCommit<PollLookUp, FoundPoll>({
      name,
      metrics: services.metrics,
      run: (polls) => lookUpUnlockedPolls(services, polls),
      isTransaction: true,
      teamOf: ({ teamId }) => teamId,
      windowMs,
      waitingMax: phonesWaitingMax,
      refuse: () => unavailable('Too many phones poll at once. Poll again in a moment.'),
    });
  const reporting = createGroupCommit('reporting_polls', reportingPollWindowMs);
  const idle = createGroupCommit('idle_polls', idlePollWindowMs);
  /** The newest look-up of each session, settled without an error. */
  const latest = new Map<string, Promise<unknown>>();
  return {
    lookUp: async (poll) => {
      // Two polls of one session need different numbers, so the second waits for the batch of the first.
      const session = `${poll.tokenHash.toString('base64')} ${poll.sessionId}`;
      const earlier = latest.get(session) ?? Promise.resolve();
      const shared = poll.isReporting ? reporting : idle;
      const found = earlier.then(() =>
        shared.add(poll, () => services.database.waitOnHot(poll.teamId, () => lookUpPoll(services, poll))),
      );
      const settled = found.catch(() => undefined);
      latest.set(session, settled);
      try {
        return await found;
      } finally {
        if (latest.get(session) === settled) latest.delete(session);
      }
    },
  };
}
