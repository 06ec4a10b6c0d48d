import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { claim, connectNumber } from '#test/support/phones/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';

const phone = '+14155550100';
const polled = /✓ The phone that was set up with this link has polled/;
const waits = /Waiting for the first poll of the phone that is set up with this link/;

describe('the setup page (specification section 11.8)', () => {
  let service: TestService;
  let team: TestTeam;

  before(async () => {
    service = await startTestService();
    team = await service.newTeam();
  });
  after(() => service.close());

  const pageOf = async (setupUrl: string, method: 'GET' | 'POST' = 'GET') => {
    const response = await fetch(setupUrl, { method, headers: { 'sec-fetch-site': 'same-origin' } });
    assert.equal(response.status, 200);
    return response.text();
  };

  it('says whether the phone of this very link has polled, also where an older phone of the number polls on', async () => {
    const number = await connectNumber(service, team, phone);
    assert.match(await pageOf(number.setupUrl), polled);

    const answer = await team.api.post(`/v1/numbers/${number.numberId}/reconnect`);
    const setupUrl = String(answer.json.setup_url);
    assert.match(await pageOf(setupUrl), waits, 'the token was not used yet');
    const device = await claim(team.api, setupUrl);
    assert.equal((await number.wire.poll()).action, 'idle');
    assert.match(await pageOf(setupUrl), waits, 'the old phone polls');
    assert.match(await pageOf(setupUrl, 'POST'), waits, 'and so where the token is shown');

    assert.equal((await device.poll()).action, 'idle');
    assert.match(await pageOf(setupUrl), polled);
    assert.match(await pageOf(setupUrl, 'POST'), polled);
  });

  it('waits for the first poll of a number that no phone has connected yet', async () => {
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550101' });
    const setupUrl = String(verify.json.setup_url);
    const device = await claim(team.api, setupUrl);
    assert.match(await pageOf(setupUrl), waits);
    assert.equal((await device.poll()).action, 'idle');
    assert.match(await pageOf(setupUrl), polled);
  });

  it('says in one sentence that no iPhone can open its address, and names the setting; else nothing', async () => {
    const setupPage = async (of: TestService) => {
      const { api } = await of.newTeam();
      const verify = await api.post('/v1/numbers/verify', { phone_number: '+14155550102' });
      const path = new URL(String(verify.json.setup_url)).pathname;
      return (await fetch(`${of.baseUrl}${path}`)).text();
    };
    const sentence = /no iPhone can open: set BASE_URL to an address/g;
    assert.equal((await setupPage(service)).match(sentence)?.length, 1);
    const reachable = await startTestService({ BASE_URL: 'http://192.0.2.20:3000' });
    try {
      assert.doesNotMatch(await setupPage(reachable), /no iPhone can open/);
    } finally {
      await reachable.close();
    }
  });
});
