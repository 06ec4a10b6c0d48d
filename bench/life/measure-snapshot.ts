import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { closeServer, listenLocally } from '#test/support/proxies/listen-locally.ts';
import { atShare } from '../print-latency.ts';
import type { Installation } from './installation.ts';
import { monotonicMs } from './ledger.ts';

/** Texts a second: few enough that no text waits for another one. */
const perSecond = 20;

/** Seconds of texts before a measurement. In that time the service reads past the dead rows. */
const warmUpSeconds = 10;

const goal = 2;
const batch = 10_000;

interface Phase {
  readonly p50: number;
  readonly p99: number;
}

/**
 * Measures the time from the 202 of a text to the webhook request about its hand-out. In the second phase, an open
 * snapshot keeps `dead` rows of each queue of events. One transaction inserts, leases and deletes these rows, so none
 * is delivered.
 */
export async function measureSnapshot(
  installation: Installation,
  seconds: number,
  dead: number,
): Promise<void> {
  const arrivedAtMs = new Map<string, number>();
  const receiver = createServer(async (request, answer) => {
    const { data } = (await json(request)) as { readonly data: { readonly id: string } };
    arrivedAtMs.set(data.id, monotonicMs());
    answer.end();
  });
  const holder = new pg.Client({ connectionString: await findEngineUrl(installation.dataDir) });
  try {
    const port = await listenLocally(receiver);
    await installation.api.post('/v1/webhooks', {
      url: `http://127.0.0.1:${port}`,
      events: ['message.sent'],
    });
    const without = await measurePhase('without a snapshot', installation, arrivedAtMs, seconds);
    await holder.connect();
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM teams');
    for (let made = 0; made < dead; made += batch) await makeDead(installation.database);
    const held = await measurePhase(
      `with ${dead} dead rows in each queue`,
      installation,
      arrivedAtMs,
      seconds,
    );
    process.stdout.write(
      `${(held.p99 / without.p99).toFixed(2)} × p99 (goal ≤ ${goal} ×), ${(held.p50 / without.p50).toFixed(2)} × p50\n`,
    );
  } finally {
    await holder.end();
    await closeServer(receiver);
  }
}

async function measurePhase(
  name: string,
  installation: Installation,
  arrivedAtMs: ReadonlyMap<string, number>,
  seconds: number,
): Promise<Phase> {
  const { senders, ledger, untilSettled } = installation;
  await senders.atRate(perSecond, warmUpSeconds);
  await untilSettled();
  const sinceMs = monotonicMs();
  await senders.atRate(perSecond, seconds);
  await untilSettled();
  await pause(500);
  const sorted = ledger.latenciesMs(sinceMs, arrivedAtMs).toSorted((left, right) => left - right);
  const [p50, p99, last] = [atShare(sorted, 0.5), atShare(sorted, 0.99), atShare(sorted, 1)];
  process.stdout.write(
    `${name}: from a text to its webhook p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, last ${last.toFixed(0)} ms\n`,
  );
  return { p50, p99 };
}

async function makeDead(database: pg.Pool): Promise<void> {
  await database.query(
    `BEGIN;
     INSERT INTO unpublished_events (team_id, event_id)
       SELECT team_id, id FROM webhooks, generate_series(1, ${batch}) WHERE id = (SELECT max(id::text)::uuid FROM webhooks);
     INSERT INTO due_deliveries (webhook_id, delivery_id, team_id, event_id, due_at)
       SELECT id, uuidv7(), team_id, id, clock_timestamp() FROM webhooks, generate_series(1, ${batch})
       WHERE id = (SELECT max(id::text)::uuid FROM webhooks);
     UPDATE due_deliveries SET leased_until = due_at, lease = 0 WHERE xmin = pg_current_xact_id()::xid;
     DELETE FROM due_deliveries WHERE xmin = pg_current_xact_id()::xid;
     DELETE FROM unpublished_events WHERE xmin = pg_current_xact_id()::xid;
     COMMIT`,
  );
}
