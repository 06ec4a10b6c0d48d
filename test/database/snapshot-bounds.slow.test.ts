import { before, describe, it } from 'node:test';
import type pg from 'pg';
import type { Database } from '#server/database/database.ts';
import type { Transaction } from '#server/database/query.ts';
import { createPublisher } from '#server/events/publisher.ts';
import { OutboundHttp } from '#server/platform/outbound-http/outbound-http.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { Dispatcher } from '#server/webhooks/dispatch/dispatcher.ts';
import { explain } from '#test/support/database/explain-page.ts';
import { blocks } from '#test/support/database/plan-node.ts';
import { unpublishedEvents } from '#test/support/events/stored-events.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import {
  addWebhook,
  emit,
  givenWebhookService,
  type TestWebhook,
} from '#test/support/webhooks/webhook-world.ts';

const dead = 20_000;

/** Pages of tables and indexes that a claim or a round of the publisher may read. The dead rows fill ten times as many. */
const blocksMax = 150;

/** A run of a statement, with the number of pages that EXPLAIN says it reads. */
interface Run {
  readonly name: string;
  readonly values: readonly unknown[];
  readonly blocks: number;
}

describe(`an open snapshot that keeps ${dead.toLocaleString('en')} dead rows of each queue (decision 0017)`, () => {
  const receiver = given(() => startWebhookReceiver());
  const service = givenWebhookService({ ROLES: 'api' });
  const end = (client: pg.PoolClient) => client.release(true);
  const holder = given(() => service.runtime.database.pool.connect(), end);
  const planner = given(() => service.runtime.database.hot.connect(), end);
  let webhook: TestWebhook;
  const runs: Run[] = [];
  /** One connection explains one statement after the other. */
  let explained = Promise.resolve();

  before(async () => {
    await holder.query('SET idle_in_transaction_session_timeout = 0');
    const { id: team } = await service.newTeam();
    webhook = await addWebhook(service.runtime, team, receiver.url);
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT');
    await service.query(
      `INSERT INTO due_deliveries (webhook_id, delivery_id, team_id, event_id, due_at)
       SELECT $1, gen_random_uuid(), $2, $1, clock_timestamp() FROM generate_series(1, ${dead})`,
      [webhook.id, team],
    );
    await service.query(
      `INSERT INTO unpublished_events (team_id, event_id) SELECT $1, gen_random_uuid() FROM generate_series(1, ${dead})`,
      [team],
    );
    await service.query('DELETE FROM due_deliveries');
    await service.query('DELETE FROM unpublished_events');
  });
  const lastRun = (name: string) => runs.findLast((run) => run.name === name);

  /** A database that explains each claim and each batch of the publisher before it runs them. */
  function explaining(database: Database): Database {
    const record = (statement: unknown) => {
      const { name, text, values } = statement as { name: string; text: string; values: readonly unknown[] };
      if (name !== 'webhooks.claim-deliveries' && name !== 'events.publish') return Promise.resolve();
      explained = explained.then(async () => {
        await planner.query('BEGIN');
        const plan = await explain(planner, { text, values });
        await planner.query('ROLLBACK');
        runs.push({ name, values, blocks: blocks(plan) });
      });
      return explained;
    };
    const recording = <T extends pg.Pool | pg.PoolClient>(db: T): T =>
      Object.create(db, {
        query: {
          value: async (statement: unknown) => record(statement).then(() => db.query(statement as never)),
        },
      });
    return Object.create(database, {
      hot: { value: recording(database.hot) },
      batches: { value: recording(database.batches) },
      transaction: {
        value: <T>(work: (trx: Transaction) => Promise<T>, pool?: pg.Pool) =>
          database.transaction((trx) => work(recording(trx)), pool),
      },
    });
  }

  /** Delivers events one after the other until a condition is met. */
  async function deliverUntil(what: string, dispatcher: Dispatcher, isMet: () => boolean): Promise<void> {
    await until(what, async () => {
      const { length } = receiver.received;
      await emit(service.runtime, webhook.teamId, ['Hello']);
      dispatcher.notify(webhook.id);
      await receiver.count(length + 1);
      return isMet();
    });
  }

  it('once past the dead rows, a claim and the publisher read few pages, and an event committed behind their marks is still delivered and published', async (t) => {
    const { database, clock, config } = service.runtime;
    const outbound = new OutboundHttp({ allowed: config.egressAllowed });
    const recorded = { ...service.runtime, database: explaining(database) };
    const dispatcher = new Dispatcher({ ...recorded, metrics: createMetrics(), outbound });
    const publisher = createPublisher(recorded);
    t.after(async () => {
      await Promise.all([dispatcher, publisher].map((loop) => loop.stop()));
      await outbound.close();
    });
    dispatcher.start();
    void publisher.start();
    const begunMs = clock.nowMs();
    const whileOpen = async (trx: Transaction) => {
      const { rows } = await trx.query<{ seq: number }>(
        'SELECT last_value AS seq FROM unpublished_events_seq',
      );
      const [{ seq } = { seq: Number.NaN }] = rows;
      await deliverUntil('the marks lie above it', dispatcher, () => {
        publisher.notify();
        const [claim, batch] = [lastRun('webhooks.claim-deliveries'), lastRun('events.publish')];
        const [live = 0] = (claim?.values[1] ?? []) as readonly number[];
        const isAbove = live > begunMs + 1_000 && Number(batch?.values[0]) > seq;
        return isAbove && [claim, batch].every((run) => run !== undefined && run.blocks <= blocksMax);
      });
    };
    const held = Object.create(database, {
      transaction: {
        value: (work: (trx: Transaction) => Promise<void>) =>
          database.transaction(async (trx) => {
            await work(trx);
            await whileOpen(trx);
          }),
      },
    });
    // Neither the dispatcher nor the publisher of this test is notified.
    await emit({ ...service.runtime, database: held }, webhook.teamId, ['late']);
    await until('it is delivered', () =>
      receiver.received.some(({ body }) => body.toString().includes('"late"')),
    );
    await until('it is published', async () => (await unpublishedEvents(service)).length === 0);
  });
});
