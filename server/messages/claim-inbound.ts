import { transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { NumberRow } from '#server/numbers/number-store.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { duplicateInboundMs, inboundRunMs } from './limits.ts';

const claimGivenId = transactionQuery<
  { teamId: TeamId; numberId: NumberId; hash: Buffer; id: MessageId },
  { message_id: MessageId }
>(
  'messages.claim-given-id',
  `INSERT INTO inbound_ids (team_id, number_id, given_id_hash, message_id) VALUES (:teamId, :numberId, :hash, :id)
   ON CONFLICT (number_id, given_id_hash) DO UPDATE SET number_id = excluded.number_id RETURNING message_id`,
);
const claimFingerprint = transactionQuery<
  { teamId: TeamId; numberId: NumberId; fingerprint: Buffer; id: MessageId; now: Date; since: Date },
  { message_id: MessageId }
>(
  'messages.claim-fingerprint',
  `INSERT INTO inbound_fingerprints AS r (team_id, number_id, fingerprint, message_id, stored_at) VALUES (:teamId, :numberId, :fingerprint, :id, :now)
   ON CONFLICT (number_id, fingerprint) DO UPDATE SET
     message_id = CASE WHEN r.stored_at > :since THEN r.message_id ELSE excluded.message_id END,
     stored_at = CASE WHEN r.stored_at > :since THEN r.stored_at ELSE excluded.stored_at END
   RETURNING message_id`,
);
const changeFingerprint = transactionQuery<{ numberId: NumberId; fingerprint: Buffer; messageId: MessageId }>(
  'messages.change-fingerprint',
  `UPDATE inbound_fingerprints SET message_id = :messageId WHERE number_id = :numberId AND fingerprint = :fingerprint`,
);

/** The data by which a repeat of an inbound message is recognized. */
export interface InboundIdentity {
  readonly deviceGivenId: string | undefined;
  /** The run of the shortcut that reports the message, if it names one. */
  readonly run: string | undefined;
  /** The content: sender, text and the hash of the file. */
  readonly content: readonly string[];
}

export interface ClaimedInbound {
  /** The id of the stored message: the given id, or the id of the earlier message that this one repeats. */
  readonly id: MessageId;
  /** True if the device repeats a call; false for an equal text, which may be another message. */
  readonly isSameCall: boolean;
}

/**
 * Claims an id for an inbound message, in the transaction that stores it (specification section 11.5). A device-given
 * id identifies a message for ever. Without this id, a message repeats one of the same run of the shortcut, or an equal
 * one of the last 20 s. Several automations may fire for one text. A repeat waits for the first message to commit.
 */
export async function claimInbound(
  trx: Transaction,
  { clock }: Runtime,
  { team_id: teamId, id: numberId }: Pick<NumberRow, 'team_id' | 'id'>,
  { deviceGivenId, run, content }: InboundIdentity,
  id: MessageId,
): Promise<ClaimedInbound> {
  if (deviceGivenId !== undefined) {
    const row = await claimGivenId.row(trx, { teamId, numberId, hash: sha256(deviceGivenId), id });
    return { id: row?.message_id ?? id, isSameCall: true };
  }
  const claim = async (fingerprint: Buffer, periodMs: number) => {
    const now = clock.now();
    const since = clock.in(-periodMs, now);
    const row = await claimFingerprint.row(trx, { teamId, numberId, fingerprint, id, now, since });
    return row?.message_id ?? id;
  };
  // A run is named by a random number. The hash also includes sender and text, so that no text is lost if two runs have
  // the same number.
  const ofRun = run === undefined ? undefined : sha256(JSON.stringify({ run, content }));
  const known = ofRun ? await claim(ofRun, inboundRunMs) : id;
  if (known !== id) return { id: known, isSameCall: true };
  const claimed = await claim(sha256(JSON.stringify(content)), duplicateInboundMs);
  if (ofRun && claimed !== id)
    await changeFingerprint.run(trx, { numberId, fingerprint: ofRun, messageId: claimed });
  return { id: claimed, isSameCall: false };
}
