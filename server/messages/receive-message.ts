import { phoneQueueChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { statement, type Transaction } from '#server/database/statement.ts';
import type { NumberRow } from '#server/numbers/number-store.ts';
import { effectivePacing } from '#server/numbers/pacing-policy.ts';
import { optIn, optOut } from '#server/opt-outs/change-opt-out.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { findKeyword, type Keyword } from '#server/opt-outs/keyword.ts';
import { serverItself } from '#server/platform/actor.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { MessageId } from '#server/platform/ids/ids.ts';
import { dayOf } from '#server/platform/time/calendar.ts';
import { countInboundMessage, lockUsage } from '#server/usage/usage-store.ts';
import { isGroupMessage } from './is-group-message.ts';
import { duplicateInboundMs, handleMaxCharacters } from './limits.ts';
import { type MessageRow, sqlMessageColumns } from './message.ts';
import { appendMessageEvents } from './message-event.ts';
import { normalizeSender } from './normalize-sender.ts';
import { failMessagesToContact } from './sweep-messages.ts';

/** A message as a phone received it. */
export interface Inbound {
  readonly from: string;
  readonly text: string;
  /** The recipients as the device reports them; undefined where it does not. */
  readonly recipients: string | undefined;
  /** The device's own id of the message, where it has one. */
  readonly deviceGivenId: string | undefined;
}

const claimGivenId = statement<{ message_id: MessageId }>(
  'messages.claim-given-id',
  `INSERT INTO inbound_ids (number_id, given_id_hash, message_id) VALUES ($1, $2, $3)
   ON CONFLICT (number_id, given_id_hash) DO UPDATE SET number_id = excluded.number_id RETURNING message_id`,
);
const claimFingerprint = statement<{ message_id: MessageId }>(
  'messages.claim-fingerprint',
  `INSERT INTO inbound_fingerprints AS r (number_id, fingerprint, message_id, stored_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (number_id, fingerprint) DO UPDATE SET
     message_id = CASE WHEN r.stored_at > $5 THEN r.message_id ELSE excluded.message_id END,
     stored_at = CASE WHEN r.stored_at > $5 THEN r.stored_at ELSE excluded.stored_at END
   RETURNING message_id`,
);
const insert = statement<MessageRow>(
  'messages.insert-received',
  `INSERT INTO messages AS m (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, last_event_sequence, is_group)
   VALUES ($1, $2, $3, 'inbound', $4, $5, $6, 'received', $7, 1, $8) RETURNING ${sqlMessageColumns('m')}`,
  { changes: 'message', team: '$1', ids: '$2' },
);

const noteInbound = statement<Record<string, never>>(
  'messages.note-inbound',
  `INSERT INTO conversations AS c (team_id, number_id, contact, opened_by, opened_at, last_inbound_at)
   VALUES ($1, $2, $3, 'contact', $4, $4)
   ON CONFLICT (number_id, contact) DO UPDATE SET last_inbound_at = $4, unanswered_count = 0`,
);

/**
 * Stores an inbound message once (specification section 11.5). A device-given id identifies it without a time
 * limit. Without one, the same sender and text within 20 s of the stored message are a repeat. Unique keys
 * ensure both across processes. A keyword opts its sender out or in.
 * @returns the id of the message, the earlier one's for a repeat
 */
export async function receiveMessage(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config'>,
  number: NumberRow,
  inbound: Inbound,
): Promise<{ readonly id: MessageId; readonly repeated: boolean }> {
  const from = normalizeSender(inbound.from, number.phone_number);
  const keyword = findKeyword(inbound.text);
  const received = await services.database.transaction(async (trx) => {
    // Before every other lock: an opt-out refunds the messages that it fails.
    if (keyword === 'opt_out') await lockUsage(trx, [number.team_id]);
    // One time for both, though a repeat waits below: the day of its id is the day on which it counts.
    const now = services.clock.now();
    const id = services.ids.next('msg', now.getTime());
    const kept = await keepOnce(trx, services, number, { ...inbound, from }, id);
    if (kept !== id) return { id: kept, repeated: true };
    const message = await insert.row(
      trx,
      number.team_id,
      id,
      number.id,
      keptHandle(from),
      number.phone_number,
      inbound.text,
      now,
      isGroupMessage(inbound.recipients, from, number.phone_number),
    );
    if (message) await appendMessageEvents(trx, services, 'message.received', [message]);
    if (message && keyword) await obeyKeyword(trx, services, number, message, keyword);
    await noteInbound.row(trx, number.team_id, number.id, contactOf(keptHandle(from)), now);
    // Strict pacing may have waited for this reply.
    if (effectivePacing(services.config.pacing, number.pacing).mode === 'strict')
      trx.notifyAfterCommit(phoneQueueChannel, [number.id]);
    await countInboundMessage(trx, number.team_id, dayOf(now));
    return { id, repeated: false };
  });
  failpoint('text stored');
  return received;
}

/**
 * Opts the sender of a message out, or in (specification section 4.6), in the transaction that stores it. A text to a
 * group counts as well. A message without a known sender changes no opt-out.
 */
async function obeyKeyword(
  trx: Transaction,
  services: Pick<Runtime, 'clock' | 'ids'>,
  number: NumberRow,
  message: MessageRow,
  keyword: Keyword,
): Promise<void> {
  const contact = contactOf(message.from_handle);
  if (contact === '') return;
  const change = {
    teamId: number.team_id,
    contact,
    by: serverItself,
    message: { id: message.id, number, receivedAt: message.created_at },
  };
  if (keyword === 'opt_in') await optIn(trx, services, change);
  else if (await optOut(trx, services, change)) await failMessagesToContact(trx, services, change);
}

function keptHandle(handle: string): string {
  // Twice as many code units hold at least as many characters.
  return [...handle.slice(0, 2 * handleMaxCharacters)].slice(0, handleMaxCharacters).join('');
}

/**
 * @returns the given id, or that of the stored message that this one repeats. A repeat waits for the first to commit.
 */
async function keepOnce(
  trx: Transaction,
  { clock }: Pick<Runtime, 'clock'>,
  number: NumberRow,
  inbound: Inbound,
  id: MessageId,
): Promise<MessageId> {
  if (inbound.deviceGivenId !== undefined) {
    return (await claimGivenId.row(trx, number.id, sha256(inbound.deviceGivenId), id))?.message_id ?? id;
  }
  const fingerprint = sha256(JSON.stringify([inbound.from, inbound.text]));
  const since = clock.in(-duplicateInboundMs);
  return (await claimFingerprint.row(trx, number.id, fingerprint, id, clock.now(), since))?.message_id ?? id;
}
