import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { lockTimeoutMs } from '#server/database/database.ts';
import { heldFeedRequestsMax } from '#server/events/list-events.ts';
import {
  teamRequestsRunningMax,
  teamRequestsWaitingMax,
  teamRequestWaitMaxMs,
} from '#server/usage/team-limiter.ts';
import { holdReads } from '#test/support/database/hold-reads.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import type { ApiAnswer } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

/** 200 requests more than a team's permits and queue hold. */
const many = teamRequestsRunningMax + teamRequestsWaitingMax + 200;

describe('fairness between teams (§8/team-concurrency)', () => {
  const service = givenService();
  const busy = given(() => service.newTeam());
  const victim = given(() => service.newTeam());
  const number = given(() => connectNumber(service, victim, '+14155550100'));
  const busyNumber = given(() => connectNumber(service, busy, '+14155550101'));

  before(() =>
    busy.api.send({ from: busyNumber.phoneNumber, to: '+14155550102', content: 'one to be listed' }),
  );

  /** Starts many requests, which stay unanswered while the test holds their locks. */
  function flood(ask: () => Promise<ApiAnswer>) {
    const answers: ApiAnswer[] = [];
    const all = Promise.all(Array.from({ length: many }, async () => answers.push(await ask())));
    return { answers, all, startedMs: performance.now() };
  }

  /** Checks that requests of another team are served. */
  async function assertUndisturbed(): Promise<void> {
    for (const [method, path, body] of [
      ['POST', '/v1/messages/send', { from: number.phoneNumber, to: '+14155550103', content: 'hello' }],
      ['GET', '/v1/messages?status=sent', undefined],
      ['GET', '/v1/events', undefined],
      ['GET', '/v1/numbers', undefined],
      ['PUT', '/v1/team', { name: 'Undisturbed' }],
      ['GET', '/v1/team/members', undefined],
    ] as const) {
      const answer = await victim.api.request(method, path, { body });
      assert.ok(answer.status === 200 || answer.status === 202, `${method} ${path}: ${answer.text}`);
    }
  }

  /** Waits until the requests beyond the permits and the queue are refused. */
  async function assertRestRefused(answers: readonly ApiAnswer[]): Promise<void> {
    await until(
      'the rest is refused',
      () => answers.length >= many - teamRequestsRunningMax - teamRequestsWaitingMax,
    );
    assertRefused(answers);
  }

  function assertRefused(answers: readonly ApiAnswer[]): void {
    for (const answer of answers) {
      assert.partialDeepStrictEqual(answer, { status: 503, json: { error: { code: 'internal_error' } } });
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    }
  }

  /** Checks that queued requests were served, except those that waited too long on a slow machine. */
  async function assertServed({ answers, all, startedMs }: ReturnType<typeof flood>): Promise<void> {
    await all;
    const elapsedMs = performance.now() - startedMs;
    const hadPlace = answers.slice(many - teamRequestsRunningMax - teamRequestsWaitingMax);
    const timedOut = hadPlace.filter(({ status }) => status === 500).length;
    const timedOutMax = elapsedMs >= lockTimeoutMs ? 2 * teamRequestsRunningMax : 0;
    assert.ok(timedOut <= timedOutMax, `${timedOut} timed out in ${Math.round(elapsedMs)} ms`);
    const others = hadPlace.filter(({ status }) => status !== 200 && status !== 500);
    if (elapsedMs >= teamRequestWaitMaxMs) assertRefused(others);
    else assert.deepEqual(others, []);
  }

  it('many reads of a team leave connections for other teams and for its own sends, and reads beyond a limit get 503 with retry-after', async () => {
    const held = await holdReads(service.databaseUrl, busy.id);
    const flooded = flood(() => busy.api.get('/v1/messages'));
    try {
      await assertRestRefused(flooded.answers);
      await assertUndisturbed();
      // Sends need no permit of the team.
      await busy.api.send({ from: busyNumber.phoneNumber, to: '+14155550102', content: 'still accepted' });
    } finally {
      await held.release();
    }
    await assertServed(flooded);
  });

  it('waiting writes by the keys of a team leave connections for other teams and for the team’s members', async () => {
    const owner = await newMember(service, busy, 'owner');
    const lock = await holdRowLock(service, { teamId: busy.id });
    const flooded = flood(() => busy.api.put('/v1/team', { name: 'Busy' }));
    let ofMember: Promise<ApiAnswer>;
    try {
      await assertRestRefused(flooded.answers);
      await lock.waiting(teamRequestsRunningMax);
      ofMember = owner.get(owner.in('/numbers'));
      await assertUndisturbed();
    } finally {
      await lock.release();
    }
    assert.equal((await ofMember).status, 200);
    await assertServed(flooded);
  });

  it('long polls for events use no permit of the team, and many of one team do not delay the feed of another', async () => {
    const answers: ApiAnswer[] = [];
    const all = Promise.all(
      Array.from({ length: many }, async () => answers.push(await busy.api.get('/v1/events?wait=25'))),
    );
    await until('the rest is refused', () => answers.length >= many - heldFeedRequestsMax.ofKey);
    const refused = answers.length;
    for (const { status, text } of answers) assert.ok(status === 429 || status === 503, text);
    assert.equal((await busy.api.get('/v1/numbers')).status, 200);
    await assertUndisturbed();
    service.clock.advance(25_000);
    await all;
    assert.equal(
      answers.filter(({ status }) => status === 200).length,
      many - refused,
      'those that were held',
    );
  });
});
