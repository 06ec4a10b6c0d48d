import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { teamRequestsRunningMax } from '#server/usage/limits.ts';
import { countBlocked, untilBlocked } from '#test/support/database/blocked-statements.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { type ConnectedNumber, connectNumber, type FlatAnswer } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

const phones = 6;
const textsEach = 10;
const metricsToken = 'a-token-for-metrics';

describe('many phones of one team', () => {
  const service = givenService({ METRICS_TOKEN: metricsToken });
  const busy = given(() => service.newTeam());
  const victim = given(() => service.newTeam());
  const numbers: ConnectedNumber[] = [];

  before(async () => {
    while (numbers.length < phones) numbers.push(await connectNumber(service, busy));
  });

  /** Checks that another team's requests are served; they use the same connections as phones. */
  async function assertUndisturbed(): Promise<void> {
    for (const [method, path, body] of [
      ['GET', '/v1/numbers', undefined],
      ['PUT', '/v1/team', { name: 'Undisturbed' }],
    ] as const) {
      const answer = await victim.api.request(method, path, { body });
      assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    }
  }

  it('many simultaneous inbound messages of one team are all stored, within the number of connections that its requests may use', async () => {
    const lock = await holdRowLock(service, { teamId: busy.id });
    const answers: FlatAnswer[] = [];
    let all: Promise<unknown>;
    try {
      all = Promise.all(
        numbers.flatMap(({ wire }) =>
          Array.from({ length: textsEach }, async (_, n) =>
            answers.push(await wire.call('inbound', { from: '+12125550100', text: `Text ${n}` })),
          ),
        ),
      );
      await untilBlocked(service, 'events.', teamRequestsRunningMax);
      await assertUndisturbed();
      assert.equal(await countBlocked(service, 'events.'), teamRequestsRunningMax);
    } finally {
      await lock.release();
    }
    await all;
    const refused = answers.filter(({ ok }) => ok !== '1');
    assert.deepEqual(refused, []);
    assert.equal(answers.length, phones * textsEach);
  });

  it('held polls use no permit of their team: requests and inbound messages are served', async () => {
    const held = numbers.map(({ wire }) => wire.poll());
    await until('all are held', async () => {
      const headers = { authorization: `Bearer ${metricsToken}` };
      const metrics = await (await fetch(`${service.baseUrl}/metrics`, { headers })).text();
      return metrics.includes(`ownline_polls_held ${phones}\n`);
    });
    await assertUndisturbed();
    assert.equal((await busy.api.get('/v1/numbers')).status, 200);
    const [first] = numbers;
    const text = await first?.wire.call('inbound', { from: '+12125550100', text: 'while polls are held' });
    assert.equal(text?.ok, '1');
    service.clock.advance(60_000);
    for (const answer of await Promise.all(held)) assert.equal(answer.action, 'idle');
  });
});
