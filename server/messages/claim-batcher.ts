import { GroupCommit } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { type Claim, type ClaimingPoll, claimMessages, nothing } from './claim-message.ts';
import { phoneCommitWindowMs, phonesWaitingMax } from './limits.ts';

export interface ClaimBatcher {
  /**
   * Claims the next message of a number.
   * @param hasEnded whether the poll has ended; a claim that waited for its batch takes nothing then
   */
  readonly claim: (claimant: ClaimingPoll, hasEnded: () => boolean) => Promise<Claim>;
}

type Claimant = ClaimingPoll & { readonly hasEnded: () => boolean };

/** Claims messages in a group commit. @param sessionLifeMs life of a session after its poll is answered */
export function createClaimBatcher(
  services: Pick<Runtime, 'database' | 'clock' | 'config' | 'metrics'>,
  sessionLifeMs: number,
): ClaimBatcher {
  const commit = new GroupCommit<Claimant, Claim>({
    name: 'claims',
    metrics: services.metrics,
    run: async (claimants) => {
      const open = claimants.filter(({ hasEnded }) => !hasEnded());
      const claims = open.length === 0 ? [] : await claimMessages(services, open, sessionLifeMs);
      failpoint('messages claimed');
      return claimants.map((claimant) => claims[open.indexOf(claimant)] ?? nothing);
    },
    teamOf: ({ teamId }) => teamId,
    windowMs: phoneCommitWindowMs,
    waitingMax: phonesWaitingMax,
    refuse: () => unavailable('Too many phones wait for their message. Poll again in a moment.'),
  });
  return { claim: (claimant, hasEnded) => commit.add({ ...claimant, hasEnded }) };
}
