import { normalizeEmail } from '#server/accounts/account/email.ts';
import { incrementCounters } from '#server/accounts/throttling/throttle-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { AppError } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { invitationMailsPerAddressAndHour, invitationMailsPerTeamAndHour } from '#server/teams/limits.ts';

const hourMs = 3_600_000;

/**
 * Throttle of invitation mail, per address and per team (specification section 12.5). It counts in the transaction that
 * creates the invitation, so that a refused mail is not counted.
 * @throws AppError 429 with retry-after
 */
export async function countInvitationMail(
  trx: Transaction,
  { clock }: Pick<Runtime, 'clock'>,
  teamId: TeamId,
  to: string,
): Promise<void> {
  const windowStart = new Date(Math.floor(clock.nowMs() / hourMs) * hourMs);
  const subjects = [
    `invitations address ${normalizeEmail(to)}`,
    `invitations team ${publicId('team', teamId)}`,
  ];
  const [ofAddress = 0, ofTeam = 0] = await incrementCounters(trx, subjects.map(sha256), windowStart);
  if (ofAddress <= invitationMailsPerAddressAndHour && ofTeam <= invitationMailsPerTeamAndHour) return;
  const seconds = Math.max(1, Math.ceil((windowStart.getTime() + hourMs - clock.nowMs()) / 1_000));
  throw new AppError(
    'rate_limited',
    `Too many invitations were mailed ${ofTeam > invitationMailsPerTeamAndHour ? 'by this team' : 'to this address'} in this hour. Retry in ${seconds} seconds.`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
