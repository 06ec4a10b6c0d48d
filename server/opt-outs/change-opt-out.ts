import type { ContactEventType } from '#contract/event.ts';
import { isFictionalNumber } from '#contract/number.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { runHooks } from '#server/database/hooks.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { appendEvents } from '#server/events/append-events.ts';
import type { Principal } from '#server/http/route.ts';
import type { NumberRow } from '#server/numbers/number-store.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { AppError, invalid } from '#server/platform/app-error.ts';
import { type MessageId, publicId, type TeamId } from '#server/platform/ids.ts';
import { lockUsage } from '#server/usage/usage.ts';
import { parseContact, parseNewContact } from './contact.ts';
import { endOptOut, findOptOut, insertOptOut, type OptOutRow, restoreContact } from './opt-out-store.ts';

/** The data of an opt-out of a contact, or of its opt-in afterwards. */
export interface OptOutChange {
  readonly teamId: TeamId;
  /** The normalized handle, from `contactOf`. */
  readonly contact: string;
  readonly by: AuditActor;
  /** The inbound message with the keyword, and the number that received it; undefined for a change by request. */
  readonly message?: { readonly id: MessageId; readonly number: NumberRow; readonly receivedAt: Date };
}

/**
 * Opts a contact out of the whole team: writes the row, the audit entry and the event (specification section 4.6). The
 * caller has locked the team's usage, because the contact's queued messages fail next.
 * @returns undefined, without a change, if the contact was opted out already
 */
export async function optOut(
  trx: Transaction,
  services: Runtime,
  change: OptOutChange,
): Promise<OptOutRow | undefined> {
  const { teamId, contact, by, message } = change;
  const at = message?.receivedAt ?? services.clock.now();
  const key = { teamId, contact, contactHash: services.secrets.contactHash(teamId, contact) };
  await restoreContact(trx, key);
  const row = await insertOptOut(trx, {
    ...key,
    id: services.ids.next('opt', at.getTime()),
    at,
    messageId: message?.id ?? null,
    phoneNumber: message?.number.phone_number ?? null,
    requestId: message ? null : by.requestId,
  });
  if (row) await record(trx, services, change, row, { type: 'contact.opted_out', at });
  return row;
}

/** Opts a contact in again. @returns undefined, without a change, if the contact was not opted out */
export async function optIn(
  trx: Transaction,
  services: Runtime,
  change: OptOutChange,
): Promise<OptOutRow | undefined> {
  const { teamId, contact } = change;
  const at = change.message?.receivedAt ?? services.clock.now();
  const contactHash = services.secrets.contactHash(teamId, contact);
  const row = await endOptOut(trx, { teamId, contact, contactHash, at });
  if (row) await record(trx, services, change, row, { type: 'contact.opted_in', at });
  return row;
}

/**
 * The audit entry names the opt-out by its id, because audit entries stay after an erasure and must contain no handle.
 */
async function record(
  trx: Transaction,
  services: Runtime,
  { teamId, contact, by, message }: OptOutChange,
  row: OptOutRow,
  { type, at }: { readonly type: ContactEventType; readonly at: Date },
): Promise<void> {
  const messageId = message ? publicId('msg', message.id) : null;
  await recordAudit(trx, services, {
    by,
    action: type,
    teamId,
    target: publicId('opt', row.id),
    details: { message_id: messageId },
  });
  await appendEvents(trx, services, [
    {
      type,
      teamId,
      contact,
      numberId: message?.number.id ?? null,
      sequence: row.sequence,
      data: {
        contact,
        phone_number: message?.number.phone_number ?? null,
        message_id: messageId,
        at: at.toISOString(),
      },
    },
  ]);
}

/**
 * Opts a contact out by request (specification section 4.6); the contact's queued messages fail, as after a text STOP.
 * A contact that is already opted out keeps its earlier opt-out.
 * @param principal a test key (`isTest`) opts out fictional contacts only, because a test team has no erasures
 * @param contact as the path has it
 * @throws AppError 400, param contact
 */
export async function createOptOut(
  services: Runtime,
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
    // Lock order: the usage row comes before the opt-out. The opt-out fails queued messages, and these are refunded.
    await lockUsage(trx, { teamIds: [teamId] });
    const created = await optOut(trx, services, change);
    if (created) {
      await runHooks(trx, services, 'optedOut', change);
      return created;
    }
    // The contact was opted out already, and `optOut` has locked the row.
    const standing = await findOptOut(trx, change);
    if (!standing) throw new Error('an opt-out was neither created nor found');
    return standing;
  });
}

/**
 * Opts a contact in by request (specification section 4.6).
 * @param contact as the path has it
 * @throws AppError 400, param contact; 404 if the contact is not opted out
 */
export async function deleteOptOut(
  services: Runtime,
  teamId: TeamId,
  contact: string,
  by: AuditActor,
): Promise<void> {
  const change = { teamId, contact: parseContact(contact), by };
  if (await services.database.transaction((trx) => optIn(trx, services, change))) return;
  throw new AppError(
    'not_found',
    'This contact is not opted out. Write it as GET /v1/opt-outs shows it, percent-encoded.',
  );
}
