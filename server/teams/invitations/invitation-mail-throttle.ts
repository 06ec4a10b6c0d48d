import { normalizeEmail } from '#server/accounts/account/email.ts';
import { countInWindow } from '#server/accounts/throttling/throttle-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { rateLimited } from '#server/platform/app-error.ts';
import { publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { invitationMailsPerAddressAndHour, invitationMailsPerTeamAndHour } from '#server/teams/limits.ts';

/**
 * Throttle of invitation mail, per address and per team (specification section 12.5). It counts in the transaction that
 * creates the invitation, so that a refused mail is not counted.
 * @throws AppError 429 with retry-after
 */
export async function countInvitationMail(
  trx: Transaction,
  services: Pick<Runtime, 'clock'>,
  teamId: TeamId,
  to: string,
): Promise<void> {
  const { counts, secondsLeft } = await countInWindow(trx, services, [
    `invitations address ${normalizeEmail(to)}`,
    `invitations team ${publicId('team', teamId)}`,
  ]);
  const [ofAddress = 0, ofTeam = 0] = counts;
  if (ofAddress <= invitationMailsPerAddressAndHour && ofTeam <= invitationMailsPerTeamAndHour) return;
  const whose = ofTeam > invitationMailsPerTeamAndHour ? 'by this team' : 'to this address';
  throw rateLimited(secondsLeft, `Too many invitations were mailed ${whose} in this hour`);
}
