import { covers, keyGrants, type Role } from '#contract/permissions.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { type KeyId, type MemberId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { listLiveKeysByMember, revokeKeysByMember } from './api-key-store.ts';

type KeyCreator = { readonly team_id: TeamId; readonly id: MemberId };

/** Revokes the API keys that a removed member created, in the same transaction (specification section 12.4). */
export function revokeMemberKeys(
  trx: Transaction,
  services: Pick<Runtime, 'clock' | 'ids'>,
  creator: KeyCreator,
  by: AuditActor,
): Promise<void> {
  return revoke(trx, services, creator, by);
}

/**
 * Revokes the API keys that hold more than keys of their creator's new role may, in the transaction that sets the role (section
 * 5.3). The transaction has written the member's row before. So a concurrent creation of a key has either committed, or
 * is checked against the new role.
 */
export async function revokeExcessKeys(
  trx: Transaction,
  services: Pick<Runtime, 'clock' | 'ids'>,
  creator: KeyCreator & { readonly role: Role },
  by: AuditActor,
): Promise<void> {
  const keys = await listLiveKeysByMember(trx, creator.team_id, creator.id);
  const wider = keys.filter(({ permissions }) => !covers(keyGrants(creator.role), permissions));
  if (wider.length === 0) return;
  await revoke(
    trx,
    services,
    creator,
    by,
    wider.map(({ id }) => id),
  );
}

async function revoke(
  trx: Transaction,
  services: Pick<Runtime, 'clock' | 'ids'>,
  { team_id: teamId, id }: KeyCreator,
  by: AuditActor,
  only?: readonly KeyId[],
): Promise<void> {
  const revoked = await revokeKeysByMember(trx, teamId, id, services.clock.now(), only);
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
