import { isFictionalNumber } from '#contract/number.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { invalid } from '#server/platform/app-error.ts';
import type { Principal } from '#server/platform/http/route.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { lockUsage } from '#server/usage/usage-store.ts';
import { optOut } from './change-opt-out.ts';
import { parseNewContact } from './contact.ts';
import { findOptOut, type OptOutRow } from './opt-out-store.ts';

/**
 * Transaction hook: runs when a contact opts out. It is wired in transaction-hooks.ts, because this slice does not
 * import messages.
 */
export type OnOptedOut = (
  trx: Transaction,
  optedOut: { readonly teamId: TeamId; readonly contact: string },
) => Promise<void>;

/**
 * Opts a contact out by request (specification section 4.6); the contact's queued messages fail, as after a text STOP.
 * A contact that is already opted out keeps its earlier opt-out.
 * @param principal isTest for a test key, which opts out fictional contacts only: no erasure reaches a test team
 * @param contact as the path has it
 * @throws AppError 400, param contact
 */
export async function createOptOut(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'secrets'> & {
    readonly onOptedOut: readonly OnOptedOut[];
  },
  { teamId, isTest }: Pick<Principal, 'teamId' | 'isTest'>,
  contact: string,
  by: AuditActor,
): Promise<OptOutRow> {
  const change = { teamId, contact: parseNewContact(contact), by };
  if (isTest && !isFictionalNumber(change.contact)) {
    throw invalid(
      'contact',
      'A test key opts out only numbers that are reserved for fiction, such as +15005550101. Use one, or a live key.',
    );
  }
  return services.database.transaction(async (trx) => {
    // The usage row is locked before the opt-out, because failed messages are refunded.
    await lockUsage(trx, { teamIds: [teamId] });
    const created = await optOut(trx, services, change);
    if (created) {
      for (const hook of services.onOptedOut) await hook(trx, change);
      return created;
    }
    // The contact was opted out already, and `optOut` has locked the row.
    const standing = await findOptOut(trx, change);
    if (!standing) throw new Error('an opt-out was neither created nor found');
    return standing;
  });
}
