import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockClockState } from '#server/database/clock-store.ts';
import { makeReadOnly } from '#test/support/database/lost-connections.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

describe('GET /readyz (specification section 10.4)', () => {
  const service = givenService();

  it('/readyz queries the database once a second, whatever the number of requests', async () => {
    // A check of readiness runs two statements; this is the name of the first.
    const watch = watchStatements(['database.readiness-memory']);
    const askMany = async () => {
      const begunMs = performance.now();
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => fetch(`${service.baseUrl}/readyz`)),
      );
      assert.ok(answers.every(({ status }) => status === 200));
      // At most one check runs in a second, and on a slow machine the requests take several seconds.
      return { looks: watch.take().length, most: 1 + Math.floor((performance.now() - begunMs) / 1_000) };
    };
    try {
      for (let second = 0; second < 3; second += 1) {
        service.clock.advance(1_000);
        const { looks, most } = await askMany();
        assert.ok(looks >= 1 && looks <= most, `${looks} looks`);
      }
    } finally {
      watch.stop();
    }
  });

  it('/readyz and writes are 503 with the reason while the database is read-only, and /readyz is 200 afterwards', async (t) => {
    const team = await service.newTeam();
    const ready = new ApiClient(service.baseUrl, '');
    const database = await makeReadOnly(service);
    let isRestored = false;
    t.after(() => (isRestored ? undefined : database.restore()));
    const readOnly = /^The database in DATABASE_URL is read-only .*primary.*default_transaction_read_only/;
    const refused = await until('it is not ready', async () => {
      service.clock.advance(1_000);
      const answer = await ready.get('/readyz');
      // The switch to read-only ends connections, so the first requests fail with another error.
      return answer.status === 503 && readOnly.test(String(field(answer.json, 'error.message'))) && answer;
    });
    assert.equal(refused.headers.get('retry-after'), '2');
    const write = await until('a write is refused', async () => {
      const answer = await team.api.put('/v1/team', { name: 'Another name' });
      return readOnly.test(String(field(answer.json, 'error.message'))) && answer;
    });
    assert.deepEqual([write.status, write.headers.get('retry-after')], [503, '2']);
    await database.restore();
    isRestored = true;
    await until('it is ready again', async () => {
      service.clock.advance(1_000);
      return (await ready.get('/readyz')).status === 200;
    });
  });

  it('/readyz answers while a transaction locks the state of the clock', async () => {
    const other = await service.startAnother();
    try {
      await service.runtime.database.transaction(async (trx) => {
        await lockClockState(trx);
        service.clock.advance(1_000);
        for (const baseUrl of [service.baseUrl, other.baseUrl]) {
          assert.equal((await fetch(`${baseUrl}/readyz`)).status, 200);
        }
      });
    } finally {
      await other.close();
    }
  });
});
