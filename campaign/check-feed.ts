import { isDeepStrictEqual } from 'node:util';
import { type Envelope, type Row, rowsOf } from './history.ts';
import { group, inversions, type Ledger } from './ledger.ts';
import { type Violation, violation } from './violation.ts';

interface Seen {
  readonly id: string;
  readonly envelope: Envelope;
  readonly row: Row<'feed_read'>;
}

/** A reader of the feed sees every event once, in a stable order (docs/specification.md section 4.5). */
export function feedViolations(ledger: Ledger): Violation[] {
  const teams = rowsOf(ledger.rows, 'team_ready').map((row) => row.team);
  return teams.flatMap((team) => {
    const pages = rowsOf(ledger.rows, 'feed_read').filter((row) => row.team === team);
    const [follower, walker, lost] = (['follower', 'walker', 'lost'] as const).map((reader) =>
      pages.filter((page) => page.reader === reader).flatMap(eventsOf),
    ) as [Seen[], Seen[], Seen[]];
    return [
      ...skipped(ledger, team, [...follower, ...lost], 'follower'),
      ...skipped(ledger, team, walker, 'walker'),
      ...repeated(follower),
      ...repeated(walker),
      ...reordered(follower, walker),
      ...[...follower, ...walker].flatMap((seen) => [...foreign(team, seen), ...differing(ledger, seen)]),
      ...backwards(walker),
    ];
  });
}

const eventsOf = (row: Row<'feed_read'>): Seen[] =>
  row.events.map((envelope) => ({ id: String(envelope.id), envelope, row }));

function skipped(ledger: Ledger, team: string, read: readonly Seen[], reader: string): Violation[] {
  const ids = new Set(read.map((seen) => seen.id));
  return [...ledger.events.values()]
    .filter((event) => event.team === team && !ids.has(event.id))
    .flatMap((event) =>
      violation('feed_skipped', `the feed showed no ${event.id} to the ${reader}`, event.seen),
    );
}

function repeated(read: readonly Seen[]): Violation[] {
  return [...group([...read], (seen) => seen.id).values()].flatMap(([first, again]) =>
    first && again
      ? violation('feed_repeated', `the feed showed ${first.id} twice`, first.row, again.row)
      : [],
  );
}

/**
 * No event is inserted before one that the follower has read during the run. The walker reads the final order at the
 * end.
 */
function reordered(follower: readonly Seen[], walker: readonly Seen[]): Violation[] {
  const indexes = new Map(walker.map((seen, index) => [seen.id, index]));
  const known = follower.filter((seen) => indexes.has(seen.id));
  return inversions(known, ({ id }) => indexes.get(id) ?? 0).flatMap(([before, seen]) =>
    violation('feed_out_of_order', `${seen.id} got a position before ${before.id}`, before.row, seen.row),
  );
}

/** A message's events are in the order of their sequence numbers. */
function backwards(walker: readonly Seen[]): Violation[] {
  const byMessage = group([...walker], ({ envelope }) => String((envelope.data as Envelope | null)?.id));
  return [...byMessage.values()]
    .flatMap((events) => inversions(events, ({ envelope }) => Number(envelope.sequence)))
    .flatMap(([before, seen]) =>
      violation('sequence_broken', `the feed shows ${before.id} before ${seen.id}`, before.row, seen.row),
    );
}

function foreign(team: string, { id, envelope, row }: Seen): Violation[] {
  return envelope.team_id === team
    ? []
    : violation('event_of_another_team', `${team} was shown ${id} of ${envelope.team_id}`, row);
}

/** The feed shows an event as webhooks received it. */
function differing({ events }: Ledger, { id, envelope, row }: Seen): Violation[] {
  const known = events.get(id);
  return known && !isDeepStrictEqual(known.envelope, envelope)
    ? violation('event_changed', `the feed shows ${id} differently from its delivery`, known.seen, row)
    : [];
}
