import { type Envelope, type Row, rowsOf } from './history.ts';
import { refusedStatus } from './phone.ts';

/** A restore, with times in ms since the epoch. The restored database lacks changes made between these times. */
export interface Restore {
  /** A moment before the snapshot of the backup. */
  readonly takenAt: number;
  /** The time at which the restored service started. */
  readonly startedAt: number;
  /** The times at which messages were held and let go, if later messages went out meanwhile. */
  readonly held?: { readonly at: number; readonly resumedAt: number };
}

/**
 * Reduces a record to what the restored database has to contain, for the checker of the kill campaign. Rows before
 * `takenAt` stay: the service owes their effects. In the lost time between `takenAt` and `startedAt`:
 *
 * - A message or text counts only if the restored database has it, because the snapshot may or may not contain it.
 * - A hand-out does not count, because the message may be handed out again. An answered report counts if it had its
 *   effect.
 * - A stop of a phone does not count if the phone reported a message that is lost.
 * - A delivery does not count if it was repeated. Otherwise it does, because its result may be in the snapshot.
 * - Pages of the feed do not count, unless the follower goes on. An event that it reads again counts once.
 *
 * Requests without an answer stay: they can cause messages and events, but oblige the service to nothing.
 */
export function cutAtSnapshots(rows: readonly Row[], restores: readonly Restore[]): Row[] {
  const last = restores.at(-1)?.startedAt ?? 0;
  const isLost = ({ at }: Row) => restores.some(({ takenAt, startedAt }) => at > takenAt && at < startedAt);
  const now = rows.filter(({ at }) => at >= last);
  const isFollowed = ({ at }: Row) =>
    restores.some(({ takenAt, startedAt, held }) => held && at > takenAt && at < startedAt);
  const ends = new Map(rowsOf(now, 'message_listed').map((row) => [row.message, row.status]));
  const isOfLostMessage = lostReports(rows, isLost, ends);
  const events = new Set(
    rowsOf(now, 'feed_read').flatMap((row) => (row.reader === 'walker' ? row.events.map(idOf) : [])),
  );
  const counts = (row: Row): boolean => {
    switch (row.kind) {
      case 'message_listed':
      case 'number_counted':
        return row.at >= last;
      case 'send_accepted':
      case 'inbound_accepted':
        return !isLost(row) || ends.has(row.message);
      case 'handed_out':
        return !isLost(row);
      case 'report_accepted':
        return !isLost(row) || ends.get(row.message) === row.outcome;
      case 'poll_stopped':
        return !isOfLostMessage(row);
      case 'feed_read':
        return row.reader === 'follower' ? !isLost(row) || isFollowed(row) : row.at >= last;
      default:
        return true;
    }
  };
  const kept = withRestores(withoutUnknownReports(rows.filter(counts)), restores);
  const once = followedOnce(withoutRepeats(kept, events, isLost), restores, events, isFollowed);
  return [...once, ...heldMessages(kept, restores)];
}

/** Returns a test for stops of a phone after its report on a message that a restore lost. */
function lostReports(
  rows: readonly Row[],
  isLost: (row: Row) => boolean,
  ends: ReadonlyMap<string, string>,
): (row: Row<'poll_stopped'>) => boolean {
  const accepted = rowsOf(rows, 'send_accepted').filter((row) => isLost(row) && !ends.has(row.message));
  const lost = new Set(accepted.map((row) => row.message));
  return ({ reason, number, at }) => {
    const report = rowsOf(rows, 'report_sent').findLast(
      (row) => row.number === number && row.at <= at && row.outcome === 'delivered',
    );
    return reason === `${refusedStatus}unknown_message` && report !== undefined && lost.has(report.message);
  };
}

const idOf = (envelope: Envelope) => String(envelope.id);

/** Adds a kill at each snapshot: the snapshot may lack the result of a delivery that was answered just before. */
function withRestores(rows: readonly Row[], restores: readonly Restore[]): Row[] {
  const kills = restores.map(
    ({ takenAt }): Row => ({ kind: 'process_killed', at: takenAt, point: 'the snapshot' }),
  );
  return [...rows, ...kills].sort((a, b) => a.at - b.at);
}

/** Removes answered reports on messages that the restored database has queued again, without a hand-out. */
function withoutUnknownReports(rows: readonly Row[]): Row[] {
  const handed = new Set<string>();
  return rows.filter((row) => {
    if (row.kind === 'handed_out') handed.add(row.message);
    return row.kind !== 'report_accepted' || handed.has(row.message);
  });
}

/** The answer of a message that is held may come this much later. */
const answeredAfterMs = 5_000;

/** Names the messages that were held until later ones had gone out. */
function heldMessages(rows: readonly Row[], restores: readonly Restore[]): Row[] {
  const handed = new Map(rowsOf(rows, 'handed_out').map((row) => [row.message, row.at]));
  return rowsOf(rows, 'send_accepted').flatMap(({ message, at }) => {
    const isHeld = ({ held }: Restore) =>
      held && at < held.at + answeredAfterMs && (handed.get(message) ?? 0) >= held.resumedAt;
    return restores.some(isHeld) ? { kind: 'message_held', at, message } : [];
  });
}

function withoutRepeats(
  rows: readonly Row[],
  events: ReadonlySet<string>,
  isLost: (row: Row) => boolean,
): Row[] {
  const keyOf = (row: Row<'delivery_received'>) => `${row.webhook} ${row.headers['webhook-id']}`;
  const lastAt = new Map(
    rowsOf(rows, 'delivery_received').map((row) => [keyOf(row), isLost(row) ? 0 : row.at]),
  );
  const gone = new Set<number>();
  for (const row of rowsOf(rows, 'delivery_received')) {
    const isKnown = events.has(row.headers['webhook-id'] ?? '');
    if (isLost(row) && (!isKnown || (lastAt.get(keyOf(row)) ?? 0) > row.at)) gone.add(row.request);
  }
  return rows.filter(
    (row) =>
      !(row.kind === 'delivery_received' || row.kind === 'delivery_answered') || !gone.has(row.request),
  );
}

/** Removes lost events from the follower's pages, and those that it had read before an earlier restore. */
function followedOnce(
  rows: readonly Row[],
  restores: readonly Restore[],
  known: ReadonlySet<string>,
  isFollowed: (row: Row) => boolean,
): Row[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    if (row.kind !== 'feed_read' || row.reader !== 'follower') return row;
    const life = restores.filter(({ startedAt }) => startedAt <= row.at).length;
    const events = row.events.filter(
      (event) => (known.has(idOf(event)) || !isFollowed(row)) && (seen.get(idOf(event)) ?? life) === life,
    );
    for (const event of events) seen.set(idOf(event), life);
    return { ...row, events, reader: isFollowed(row) ? 'lost' : row.reader };
  });
}
