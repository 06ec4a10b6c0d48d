import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { By } from '#server/platform/actor.ts';
import { type MemberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { revokeKeysOf } from './api-key-store.ts';

/** Makes the keys useless that a member made, in the transaction that removes the member (specification section 12.4). */
export async function revokeKeysOfMember(
  trx: Transaction,
  services: Pick<Runtime, 'clock' | 'ids'>,
  { team_id: teamId, id }: { readonly team_id: TeamId; readonly id: MemberId },
  by: By,
): Promise<void> {
  const revoked = await revokeKeysOf(trx, teamId, id, services.clock.now());
  for (const key of revoked) {
    const target = publicId('key', key.id);
    await recordAudit(trx, services, {
      by,
      action: 'key.revoked',
      teamId,
      target,
      details: { name: key.name },
    });
  }
}
