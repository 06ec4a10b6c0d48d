import { GroupCommit } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { phonesWaitingMax } from '#server/messages/limits.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { idlePollWindowMs, reportingPollWindowMs } from './limits.ts';
import { type FoundPoll, lookUpPolls, type PollLookUp } from './look-up-polls.ts';

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
      run: (polls) => lookUpPolls(services, polls),
      teamOf: ({ teamId }) => teamId,
      windowMs,
      waitingMax: phonesWaitingMax,
      refuse: () => unavailable('Too many phones poll at once. Poll again in a moment.'),
    });
  const reporting = createGroupCommit('reporting_polls', reportingPollWindowMs);
  const idle = createGroupCommit('idle_polls', idlePollWindowMs);
  return { lookUp: (poll) => (poll.isReporting ? reporting : idle).add(poll) };
}
