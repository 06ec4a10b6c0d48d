import { type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { NumberRow } from '#server/numbers/number-store.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { MessageId, NumberId, TeamId } from '#server/platform/ids.ts';
import { inboundRunMs, possibleRepeatMs, repeatGapMs, repeatsMs, runCallsMs } from './limits.ts';

const claimGivenId = transactionQuery<
  { teamId: TeamId; numberId: NumberId; hash: Buffer; id: MessageId },
  { message_id: MessageId }
>(
  'messages.claim-given-id',
  `INSERT INTO inbound_ids (team_id, number_id, given_id_hash, message_id) VALUES (:teamId, :numberId, :hash, :id)
   ON CONFLICT (number_id, given_id_hash) DO UPDATE SET number_id = excluded.number_id RETURNING message_id`,
);

/** A stored fingerprint of a text or a run, and the message that an equal one repeats. */
interface FingerprintRow {
  readonly message_id: MessageId;
  readonly stored_at: Date;
  readonly last_call_at: Date;
  readonly calls_left: number;
}
interface Fingerprints {
  readonly numberId: NumberId;
  readonly fingerprints: readonly Buffer[];
  readonly callsLeft: readonly number[];
}

const claimFingerprints = transactionQuery<
  Fingerprints & { teamId: TeamId; id: MessageId; now: Date },
  FingerprintRow & { readonly fingerprint: Buffer }
>(
  'messages.claim-fingerprints',
  // Locks the fingerprints that exist. Calls of one run lock the run's fingerprint first, so they never deadlock.
  `INSERT INTO inbound_fingerprints (team_id, number_id, fingerprint, message_id, stored_at, last_call_at, calls_left)
   SELECT :teamId, :numberId, f.fingerprint, :id, :now, :now, f.calls_left
   FROM unnest(:fingerprints::bytea[], :callsLeft::smallint[]) AS f (fingerprint, calls_left)
   ON CONFLICT (number_id, fingerprint) DO UPDATE SET number_id = excluded.number_id
   RETURNING fingerprint, message_id, stored_at, last_call_at, calls_left`,
);
const changeFingerprints = transactionQuery<
  Fingerprints & { messageId: MessageId; storedAt: Date; lastCallAt: Date }
>(
  'messages.change-fingerprints',
  `UPDATE inbound_fingerprints r
   SET message_id = :messageId, stored_at = :storedAt, last_call_at = :lastCallAt, calls_left = f.calls_left
   FROM unnest(:fingerprints::bytea[], :callsLeft::smallint[]) AS f (fingerprint, calls_left)
   WHERE r.number_id = :numberId AND r.fingerprint = f.fingerprint`,
);

/** The data by which a repeat of an inbound message is recognized. */
export interface InboundIdentity {
  readonly deviceGivenId: string | undefined;
  /** The run of the shortcut that reports the message, if it names one. */
  readonly run: string | undefined;
  /** True if an earlier call of the run got no answer, so that the text may have waited on the phone. */
  readonly isAgain: boolean;
  /** How many automations of the device are known to pass the text on. */
  readonly automations: number;
  /** The content: sender, text and the hash of the file. */
  readonly content: readonly string[];
}

export interface ClaimedInbound {
  /** The id of the stored message: the given id, or the id of the earlier message that this one repeats. */
  readonly id: MessageId;
  /** True if the device repeats a call; false for an equal text, which may be another message. */
  readonly isSameCall: boolean;
  /** True for a new message that may be a late repeat of an earlier one. */
  readonly possibleRepeat: boolean;
}

/**
 * Claims an id for an inbound message, in the transaction that stores it (specification section 11.5). A device-given
 * id identifies a message for ever. Without this id, an inbound message repeats an earlier one if the run of the
 * shortcut or the text is equal. An iPhone runs all automations that fire for a text, one after another. A repeat waits
 * for the first message to commit.
 */
export async function claimInbound(
  trx: Transaction,
  { clock }: Runtime,
  { team_id: teamId, id: numberId }: Pick<NumberRow, 'team_id' | 'id'>,
  { deviceGivenId, run, isAgain, automations, content }: InboundIdentity,
  id: MessageId,
): Promise<ClaimedInbound> {
  if (deviceGivenId !== undefined) {
    const row = await claimGivenId.row(trx, { teamId, numberId, hash: sha256(deviceGivenId), id });
    return { id: row?.message_id ?? id, isSameCall: true, possibleRepeat: false };
  }
  const ofText = sha256(JSON.stringify(content));
  // A run is named by a random number. The hash also includes sender and text, so that no text is lost if two runs have
  // the same number.
  const ofRun = run === undefined ? undefined : sha256(JSON.stringify({ run, content }));
  // Only the shortcut names its run. Other devices have no automations that could call again.
  const callsLeft = ofRun ? Math.max(automations - 1, 0) : 0;
  const rowsOf = (left: number): Fingerprints => ({
    numberId,
    ...(ofRun
      ? { fingerprints: [ofRun, ofText], callsLeft: [0, left] }
      : { fingerprints: [ofText], callsLeft: [left] }),
  });
  const claimed = await claimFingerprints.rows(trx, { ...rowsOf(callsLeft), teamId, id, now: clock.now() });
  const earlier = (fingerprint: Buffer | undefined) =>
    claimed.find((row) => fingerprint?.equals(row.fingerprint) && row.message_id !== id);
  const [runBefore, textBefore] = [earlier(ofRun), earlier(ofText)];
  // The claim may have waited for another call, so the time is read anew.
  const now = clock.now();
  const change = (rows: Fingerprints, messageId: MessageId, storedAt: Date) =>
    changeFingerprints.run(trx, { ...rows, messageId, storedAt, lastCallAt: now });

  const isSameCall = runBefore !== undefined && passed(runBefore.last_call_at, now) <= inboundRunMs;
  const repeated = isSameCall
    ? runBefore
    : textBefore && isRepeat(textBefore, isAgain, now)
      ? textBefore
      : undefined;
  if (repeated) {
    const { message_id, stored_at } = repeated;
    if (textBefore?.message_id === message_id) {
      const left = isSameCall ? textBefore.calls_left : Math.max(textBefore.calls_left - 1, 0);
      await change(rowsOf(left), message_id, textBefore.stored_at);
    } else if (ofRun) {
      // A newer message has taken over the text's fingerprint, but the run still belongs to this message.
      await change({ numberId, fingerprints: [ofRun], callsLeft: [0] }, message_id, stored_at);
    }
    return { id: message_id, isSameCall, possibleRepeat: false };
  }
  if (runBefore || textBefore) await change(rowsOf(callsLeft), id, now);
  const possibleRepeat =
    textBefore !== undefined &&
    (textBefore.calls_left > 0 || isAgain) &&
    passed(textBefore.stored_at, now) <= possibleRepeatMs;
  return { id, isSameCall, possibleRepeat };
}

/** True if an equal text is the same message: a call came lately, or automations that pass it on have not called yet. */
function isRepeat(row: FingerprintRow, isAgain: boolean, now: Date): boolean {
  const gapMs = isAgain ? repeatGapMs + runCallsMs : repeatGapMs;
  return (
    passed(row.stored_at, now) <= repeatsMs && (row.calls_left > 0 || passed(row.last_call_at, now) <= gapMs)
  );
}

/** The time between two calls. It is positive also if the service's clock was set back between them. */
function passed(since: Date, now: Date): number {
  return Math.abs(now.getTime() - since.getTime());
}
