import { GroupCommit, skipped } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import {
  type Claim,
  type ClaimingPoll,
  claimMessage,
  claimUnlockedMessages,
  nothing,
} from './claim-message.ts';
import { phoneCommitWindowMs, phonesWaitingMax } from './limits.ts';

/**
 * Maximum number of claims that a poll makes alone. Each further one follows a change of the message that the last one
 * waited for. After them the poll waits for its next wake, by the sweep at the latest.
 */
const claimsAloneMax = 3;

export interface ClaimBatcher {
  /**
   * Claims the next message of a number.
   * @param hasEnded whether the poll has ended; a claim that had to wait takes nothing then
   */
  readonly claim: (claimant: ClaimingPoll, hasEnded: () => boolean) => Promise<Claim>;
}

/** Claims messages in a group commit. @param sessionLifeMs life of a session after its poll is answered */
export function createClaimBatcher(
  services: Pick<Runtime, 'database' | 'clock' | 'config' | 'metrics'>,
  sessionLifeMs: number,
): ClaimBatcher {
  const shared = new GroupCommit<ClaimingPoll, Claim>({
    name: 'claims',
    metrics: services.metrics,
    run: async (claimants) => {
      const claims = await claimUnlockedMessages(services, claimants, sessionLifeMs);
      failpoint('messages claimed');
      return claims;
    },
    isTransaction: true,
    teamOf: ({ teamId }) => teamId,
    windowMs: phoneCommitWindowMs,
    waitingMax: phonesWaitingMax,
    refuse: () => unavailable('Too many phones wait for their message. Poll again in a moment.'),
  });
  const claimAlone = async (claimant: ClaimingPoll, hasEnded: () => boolean): Promise<Claim> => {
    for (let tries = 0; tries < claimsAloneMax; tries += 1) {
      const claim = await services.database.waitOnHot(claimant.teamId, async () =>
        hasEnded() ? nothing : claimMessage(services, claimant, sessionLifeMs),
      );
      if (claim !== skipped) return claim;
    }
    return nothing;
  };
  return {
    claim: (claimant, hasEnded) => shared.add(claimant, () => claimAlone(claimant, hasEnded)),
  };
}
