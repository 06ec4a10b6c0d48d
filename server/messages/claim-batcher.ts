import { GroupCommit } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { type Claim, type ClaimingPoll, claimMessage, claimUnlockedMessages } from './claim-message.ts';
import { phoneCommitWindowMs, phonesWaitingMax } from './limits.ts';

export interface ClaimBatcher {
  /** Claims the next message of a number. @param withPermit runs a claim that has to wait for locks */
  readonly claim: (claimant: ClaimingPoll, withPermit: WithPermit) => Promise<Claim>;
}

type WithPermit = <T>(work: () => Promise<T>) => Promise<T>;

/** Claims messages in a group commit. @param sessionLifeMs life of a session after its poll is answered */
export function createClaimBatcher(
  services: Pick<Runtime, 'database' | 'clock' | 'config'>,
  sessionLifeMs: number,
): ClaimBatcher {
  const shared = new GroupCommit<ClaimingPoll, Claim>({
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
  return {
    claim: (claimant, withPermit) =>
      shared.add(claimant, () =>
        withPermit(() => services.database.waitOnHot(() => claimMessage(services, claimant, sessionLifeMs))),
      ),
  };
}
