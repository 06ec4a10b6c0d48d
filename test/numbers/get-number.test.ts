import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { healthCauseTexts } from '#contract/number-health.ts';
import { pacingOff } from '#test/support/numbers/default-pacing.ts';
import { connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const to = '+14155550101';

describe('GET /v1/numbers/:id (specification sections 2.5 and 4.2)', () => {
  const { service, team } = givenTeamBesideCanary();

  it('a number is shown with the fields of the list and on_unconfirmed', async () => {
    const number = await connectNumber(service, team, '+14155550100');
    await team.api.send({ from: number.phoneNumber, to, content: 'one' });
    await number.wire.call('inbound', { from: to, text: 'two' });
    await connectNumber(service, team, '+14155550110');
    const change = { label: 'Support 😀', status: 'paused', on_unconfirmed: 'retry_once' };
    await team.api.put(`/v1/numbers/${number.numberId}`, change);
    const answer = await team.api.get(`/v1/numbers/${number.numberId}`);
    assert.equal(answer.status, 200);
    assert.match(String(answer.json.created_at), instant);
    assert.match(String(answer.json.last_seen_at), instant);
    assert.deepEqual(answer.json, {
      id: number.numberId,
      phone_number: number.phoneNumber,
      label: 'Support 😀',
      status: 'paused',
      verified: true,
      device_name: 'Test iPhone',
      last_seen_at: answer.json.last_seen_at,
      messages_today: 2,
      created_at: answer.json.created_at,
      on_unconfirmed: 'retry_once',
      inbound_coverage: 'unknown',
      health: {
        state: 'online',
        since: field(answer.json, 'health.since'),
        last_seen_at: answer.json.last_seen_at,
        cause: null,
        advice: '',
      },
      device_change: null,
      ...pacingOff,
    });
    const {
      on_unconfirmed: _,
      pacing: __,
      pacing_warnings: ___,
      inbound_coverage: ____,
      health: _____,
      device_change: ______,
      ...listed
    } = answer.json;
    assert.deepEqual(await findNumber(team.api, number.phoneNumber), listed);
  });

  it('a pending number has empty strings and null times for missing values, and on_unconfirmed fail', async () => {
    await team.api.post('/v1/numbers/verify', { phone_number: '+14155550120' });
    const listed = await findNumber(team.api, '+14155550120');
    const { cause, advice } = healthCauseTexts.setup_link_unopened;
    const answer = await team.api.get(`/v1/numbers/${listed?.id}`);
    assert.deepEqual(
      [answer.json.verified, answer.json.device_name, answer.json.last_seen_at, answer.json.messages_today],
      [false, '', null, 0],
    );
    assert.deepEqual(answer.json, {
      ...listed,
      on_unconfirmed: 'fail',
      inbound_coverage: 'unknown',
      health: {
        state: 'pending',
        since: answer.json.created_at,
        last_seen_at: null,
        cause: 'setup_link_unopened',
        advice: `${cause} ${advice}`,
      },
      device_change: null,
      ...pacingOff,
    });
  });
});
