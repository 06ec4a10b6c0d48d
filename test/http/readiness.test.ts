import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';
import { watchStatements } from '#test/support/service/watch-statements.ts';

describe('GET /readyz (specification section 10.4)', () => {
  let service: TestService;

  before(async () => {
    service = await startTestService();
  });
  after(() => service.close());

  it('makes one look at the database per second, however many ask', async () => {
    // One look has two statements; this is its first.
    const watch = watchStatements(['database.readiness-memory']);
    const askMany = async () => {
      const begunMs = performance.now();
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => fetch(`${service.baseUrl}/readyz`)),
      );
      assert.ok(answers.every(({ status }) => status === 200));
      // On a slow machine seconds go by meanwhile.
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
});
