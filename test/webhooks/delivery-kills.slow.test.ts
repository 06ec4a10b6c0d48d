import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openRuntime } from '#server/app/open-runtime.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { operator } from '#server/platform/actor.ts';
import { readConfig } from '#server/platform/config.ts';
import type { Failpoint } from '#server/platform/failpoint.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { createTeam } from '#server/teams/team/create-team.ts';
import { connectToDatabase, type DatabaseConnection } from '#test/support/database/database-connection.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database/test-database.ts';
import { spawnService } from '#test/support/processes/spawned-service.ts';
import { until } from '#test/support/service/until.ts';
import { deliveriesOf } from '#test/support/webhooks/stored-deliveries.ts';
import { startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit, eventIdOf } from '#test/support/webhooks/webhook-world.ts';

/** Longer than a lease: other processes then claim the deliveries of the killed process. */
const leaseMs = 31_000;

/**
 * Failpoints of deliveries, the pass at which the process is killed, and the number of waiting events.
 * With so few events, one failure of each does not disable the webhook.
 */
const kills: readonly { readonly name: Failpoint; readonly pass: number; readonly events: number }[] = [
  { name: 'delivery claimed', pass: 5, events: 20 },
  { name: 'delivery sent', pass: 3, events: 20 },
  { name: 'delivery answered', pass: 7, events: 20 },
  { name: 'results written', pass: 1, events: 20 },
  { name: 'failures before commit', pass: 1, events: 6 },
];

describe('a process that is killed loses no delivery (specification section 10.3)', () => {
  let database: TestDatabase;
  let dataDir: string;
  let settings: Record<string, string>;
  let runtime: Runtime;
  let stored: DatabaseConnection;

  before(async () => {
    database = await createTestDatabase();
    dataDir = await mkdtemp(join(tmpdir(), 'ownline-kills-'));
    settings = { DATABASE_URL: database.url, DATA_DIR: dataDir, EGRESS_ALLOW_CIDRS: '127.0.0.0/8' };
    await (await spawnService({ settings })).kill('SIGTERM');
    stored = await connectToDatabase(database.url);
    runtime = await openRuntime(readConfig(settings), database.url, createLogger('fatal'));
  });
  after(async () => {
    await stored.close();
    await runtime.database.close();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  for (const { name, pass, events } of kills) {
    it(`every event arrives after a kill at failpoint "${name}", and no delivery that was answered 200 fails (§6.3/interrupted-attempts)`, async () => {
      const taken = new Set<string>();
      const refused = new Set<string>();
      const receiver = await startWebhookReceiver({
        behaviour: (answer, { body }) => {
          const id = eventIdOf(body);
          const refuses = name === 'failures before commit' && !refused.has(id);
          (refuses ? refused : taken).add(id);
          answer.writeHead(refuses ? 500 : 200).end();
        },
      });
      const team = await runtime.database.transaction((trx) =>
        createTeam(trx, runtime, { name: 'Example team', plan: 'enterprise', by: operator }),
      );
      const webhook = await addWebhook(runtime, team.id, receiver.url);
      const write = (count: number) =>
        emit(
          runtime,
          team.id,
          Array.from({ length: count }, (_, n) => `${name} ${n}`),
        );

      await write(events);
      const ended = spawnService({ settings: { ...settings, FAILPOINT: `${name}:${pass}` } }).then(
        (service) => service.ended,
        (error: Error) => error.message,
      );
      assert.match(String(await ended), /SIGKILL/);
      await write(1);
      const service = await spawnService({ settings, movesClock: true });
      await service.advance(leaseMs);
      const statuses = await until('every delivery has its end', async () => {
        await service.advance(1_000);
        const deliveries = await deliveriesOf(stored, webhook);
        return deliveries.every(({ status }) => status !== 'pending') && deliveries;
      });
      assert.equal(await service.kill('SIGTERM'), 0, service.output());
      await receiver.close();
      assert.deepEqual([...new Set(statuses.map(({ status }) => status))], ['succeeded']);
      assert.equal(statuses.length, events + 1);
      assert.equal(taken.size, events + 1, 'the receiver has every event');
    });
  }
});
