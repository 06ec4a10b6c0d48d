import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutBlocked } from '#test/support/database/blocked-statements.ts';
import { denyConnections } from '#test/support/database/lost-connections.ts';
import { holdInserts } from '#test/support/database/table-faults.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

describe('requests while the database is away (specification sections 4.3 and 7.2)', () => {
  const { service, team } = givenTeam();
  const number = given(() => connectNumber(service, team, '+14155550100'));

  const send = (content: string, key: string) =>
    team.api.post(
      '/v1/messages/send',
      { from: number.phoneNumber, to: '+14155550101', content },
      { 'idempotency-key': key },
    );

  function assertUnavailable(answer: ApiAnswer, status: number): void {
    assert.partialDeepStrictEqual(answer, { status, json: { error: { code: 'internal_error' } } });
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.match(answer.headers.get('request-id') ?? '', /^req_/);
  }

  it('a send whose commit may have succeeded gets 500 with the reason, and can be repeated safely (§4.3/idempotency-key)', async (t) => {
    assert.equal((await send('before', 'first')).status, 202);
    const inserts = await holdInserts(service, 'send_queue');
    t.after(() => inserts.end());
    const answer = send('in doubt', 'second');
    await cutBlocked(service, 'messages.accept-sends');
    await inserts.end();
    const doubtful = await answer;
    assertUnavailable(doubtful, 500);
    assert.match(
      String(field(doubtful.json, 'error.message')),
      /may have been accepted.*same Idempotency-Key/,
    );
    const repeat = await until('it is accepted', async () => {
      const again = await send('in doubt', 'second');
      return again.status === 202 && again;
    });
    const stored = await storedMessages(service, { content: 'in doubt' });
    assert.equal(stored.length, 1, repeat.text);
  });

  it('requests get 503 with retry-after while the database is away, and succeed afterwards without a restart (§7.2/unavailable)', async () => {
    const denial = await denyConnections(service);
    try {
      assertUnavailable(await team.api.get('/v1/numbers'), 503);
      assertUnavailable(await team.api.put('/v1/team', { name: 'Other' }), 503);
      assertUnavailable(await send('nowhere to keep it', 'third'), 503);
    } finally {
      await denial.allow();
    }
    await until('it serves again', async () => (await team.api.get('/v1/numbers')).status === 200);
    await until('it accepts again', async () => (await send('kept', 'third')).status === 202);
    assert.equal((await storedMessages(service, { content: 'nowhere to keep it' })).length, 0);
  });
});
