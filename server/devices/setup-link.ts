import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { randomToken, sha256 } from '#server/platform/crypto.ts';
import type { NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { endSetupLinks, insertSetupLink } from './device-store.ts';
import { setupLinkMs } from './limits.ts';

/**
 * Creates a setup link, which connects a phone to a number. Earlier links of the number stop working.
 * @returns the URL for the iPhone
 */
export async function createSetupLink(
  trx: Transaction,
  { clock, ids, config }: Pick<Runtime, 'clock' | 'ids' | 'config'>,
  teamId: TeamId,
  numberId: NumberId,
): Promise<string> {
  const token = randomToken();
  const now = clock.now();
  await endSetupLinks(trx, teamId, numberId, now);
  await insertSetupLink(trx, {
    teamId,
    numberId,
    id: ids.next('link'),
    tokenHash: sha256(token),
    createdAt: now,
    expiresAt: clock.in(setupLinkMs, now),
  });
  return `${config.appUrl}/setup/${token}`;
}
