import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { denyConnections } from '#test/support/database/lost-connections.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import type { ApiAnswer } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

describe('requests while the database is away (specification section 7.2)', () => {
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
