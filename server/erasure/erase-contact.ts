import { type Erasure, erasureCountMax } from '#contract/erasure.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import { runHooks } from '#server/database/hooks.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { countMessagesOfContact, listHandlesOfContact } from '#server/messages/erase-messages.ts';
import { parseContact, parseNewContact, removeSeparators } from '#server/opt-outs/contact.ts';
import { insertErasure } from '#server/opt-outs/erasure-store.ts';
import { eraseOptOut, findOptOutByHash } from '#server/opt-outs/opt-out-store.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { runErasure } from './run-erasure.ts';

interface ErasureRequest {
  /** The contact, in any spelling of its handle. */
  readonly contact: string;
  /** True only counts, and erases nothing. */
  readonly dryRun: boolean;
  /**
   * How long the caller waits for the end of the erasure. After that time a process with the role `maintain` completes
   * it.
   */
  readonly waitMs: number;
}

/**
 * Erases a contact (specification section 12.14, decision 0038): removes its handle, texts and files from all data of a
 * team. The first transaction records the erasure, without the handle. The data is erased in small batches afterwards,
 * even after a kill.
 * @throws AppError 400, param contact
 */
export async function eraseContact(
  services: Runtime,
  teamId: TeamId,
  { contact: text, dryRun, waitMs }: ErasureRequest,
  by: AuditActor,
): Promise<Erasure> {
  const { database } = services;
  const { subject, counts } = await findSubject(services, teamId, text.trim());
  const key = { teamId, contactHash: services.secrets.contactHash(teamId, subject.contact) };
  if (dryRun) {
    const optOut = await findOptOutByHash(database.pool, key);
    return { ...counts, opted_out: optOut !== undefined, status: 'dry_run' };
  }
  const { erasure, isOptedOut } = await database.transaction(async (trx) => {
    const optOut = await eraseOptOut(trx, key);
    const row = await insertErasure(trx, { ...subject, contact_events: optOut.events });
    await runHooks(trx, services, 'contactErased', { teamId, handles: row.handles });
    await recordAudit(trx, services, { by, action: 'contact.erased', teamId, details: { ...counts } });
    return { erasure: row, isOptedOut: optOut.isOptedOut };
  });
  failpoint('erasure begun');
  const isDone = await runErasure(services, erasure, waitMs);
  return { ...counts, opted_out: isOptedOut, status: isDone ? 'erased' : 'running' };
}

/**
 * Finds the contact that a person entered: a handle as messages show it, or a phone number with spaces, hyphens and
 * brackets. A number without a country code that no message has is refused, because nothing would be erased.
 * @throws AppError 400, param contact
 */
async function findSubject({ database, clock, ids }: Runtime, teamId: TeamId, text: string) {
  const now = clock.now();
  const find = async (contact: string) => {
    const found = await listHandlesOfContact(database.pages, teamId, contact);
    const subject = {
      team_id: teamId,
      contact,
      handles: [...new Set([...found, text])],
      until_id: ids.next('msg', now.getTime()),
      created_at: now,
    };
    return {
      subject,
      counts: await countMessagesOfContact(database.pool, { ...subject, limit: erasureCountMax + 1 }),
    };
  };
  const written = await find(parseContact(text));
  if (written.counts.messages > 0) return written;
  const contact = parseNewContact(removeSeparators(text));
  return contact === written.subject.contact ? written : find(contact);
}
