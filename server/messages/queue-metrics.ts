import { Gauge } from 'prom-client';
import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';

interface QueueRow {
  readonly depth: number;
  readonly oldest: Date | null;
  readonly in_flight: number;
}

const look = statement<QueueRow>(
  'messages.queue-depth',
  `SELECT count(*) AS depth, min(queued_at) AS oldest, (SELECT count(*) FROM in_flight) AS in_flight FROM send_queue`,
);

/** How long a look at the queue is believed: whoever scrapes more often sees the same figures. */
const believedMs = 5_000;

/** The queue of all teams and the polls held by this process, looked at when /metrics is read (specification 10.4). */
export function watchQueue(
  { database, clock, metrics }: Pick<Runtime, 'database' | 'clock' | 'metrics'>,
  polls: { readonly numbers: readonly unknown[] },
): void {
  let known: { readonly at: number; readonly row: Promise<QueueRow | undefined> } | undefined;
  const row = () => {
    if (!known || clock.elapsedMs() - known.at > believedMs) {
      known = { at: clock.elapsedMs(), row: look.row(database.pool) };
      known.row.catch(() => {
        known = undefined;
      });
    }
    return known.row;
  };
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    new Gauge({
      name,
      help,
      registers: [metrics],
      async collect() {
        // With the database away the other figures are still read.
        this.set(await read().catch(() => Number.NaN));
      },
    });
  gauge('ownline_queue_depth', 'Messages that wait for a phone.', async () => (await row())?.depth ?? 0);
  gauge('ownline_queue_oldest_seconds', 'How long the oldest of them has waited.', async () => {
    const oldest = (await row())?.oldest;
    return oldest ? Math.max(0, clock.nowMs() - oldest.getTime()) / 1_000 : 0;
  });
  gauge('ownline_in_flight', 'Messages in a phone’s hands.', async () => (await row())?.in_flight ?? 0);
  gauge('ownline_polls_held', 'Polls that this process holds.', async () => polls.numbers.length);
}
