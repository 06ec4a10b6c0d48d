import type { ContactEventType } from '#contract/event.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { appendEvents } from '#server/events/append-events.ts';
import type { NumberRow } from '#server/numbers/number-store.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { type MessageId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { endOptOut, insertOptOut, type OptOutRow, restoreContact } from './opt-out-store.ts';

type Services = Pick<Runtime, 'clock' | 'ids' | 'secrets'>;

/** A change of a contact's opt-out: out of a team, or in again. */
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
  services: Services,
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
  services: Services,
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
  services: Services,
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
