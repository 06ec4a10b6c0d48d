import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storedNumber } from '#test/support/numbers/stored-numbers.ts';
import { connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

const phone = '+14155550100';

describe('PUT /v1/numbers/:id (specification section 4.2)', () => {
  const service = givenService();
  given(() => plantCanary(service));
  const team = given(() => service.newTeam());
  const number = given(() => connectNumber(service, team, phone));

  const put = (body: unknown) => team.api.put(`/v1/numbers/${number.numberId}`, body);

  it('an update with {} is answered 200 and changes nothing', async () => {
    const before = await put({ label: 'Kept', status: 'paused', on_unconfirmed: 'retry_once' });
    const storedBefore = await storedNumber(service, phone);
    const answer = await put({});
    assert.equal(answer.status, 200);
    assert.equal(answer.text, before.text);
    assert.deepEqual(await storedNumber(service, phone), storedBefore);
    await put({ status: 'active', on_unconfirmed: 'fail' });
  });

  it('an update changes only the fields of its request', async () => {
    await put({ label: 'First', status: 'paused' });
    assert.deepEqual((await put({ label: '' })).json.label, '');
    assert.equal((await findNumber(team.api, phone))?.status, 'paused');
    await put({ label: 'Second' });
    assert.equal((await put({ status: 'active' })).json.label, 'Second');
  });

  it('a label has 0 to 100 code points (§2.1/characters)', async () => {
    for (const label of ['', 'a', 'a'.repeat(100), '😀'.repeat(100), 'e\u0301'.repeat(50)]) {
      const answer = await put({ label });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.json.label, label);
    }
    for (const label of [
      'a'.repeat(101),
      '😀'.repeat(101),
      `${'e\u0301'.repeat(50)}a`,
      '👨‍👩‍👧'.repeat(21),
    ]) {
      const answer = await put({ label });
      assert.partialDeepStrictEqual(answer, { status: 400, json: { error: { param: 'label' } } });
    }
  });

  it('on_unconfirmed may be fail or retry_once', async () => {
    for (const policy of ['retry_once', 'fail']) {
      assert.equal((await put({ on_unconfirmed: policy })).status, 200);
      assert.equal((await storedNumber(service, phone)).onUnconfirmed, policy);
    }
  });

  it('an update with an invalid value or an unknown field is refused with the name of the field', async () => {
    const bodies: [unknown, string][] = [
      [{ status: 'stopped' }, 'status'],
      [{ status: 'Paused' }, 'status'],
      [{ on_unconfirmed: 'retry' }, 'on_unconfirmed'],
      [{ pacing: { gap: 5 } }, 'pacing'],
      [{ phone_number: '+14155550199' }, 'phone_number'],
      [{ label: 'not kept', id: 'num_x' }, 'id'],
    ];
    for (const [body, param] of bodies) {
      const answer = await put(body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(field(answer.json, 'error.param'), param, answer.text);
    }
    assert.notEqual((await findNumber(team.api, phone))?.label, 'not kept');
    assert.match(String(field((await put({ status: 'x' })).json, 'error.message')), /active, paused/);
  });

  it('a pending number can be updated', async () => {
    await team.api.post('/v1/numbers/verify', { phone_number: '+14155550105' });
    const pending = await findNumber(team.api, '+14155550105');
    const answer = await team.api.put(`/v1/numbers/${pending?.id}`, { label: 'Soon', status: 'paused' });
    assert.partialDeepStrictEqual(answer, { json: { label: 'Soon', status: 'paused', verified: false } });
  });
});
