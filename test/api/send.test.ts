import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { field } from '#test/support/api-client.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/test-service.ts';

describe('POST /v1/messages/send (specification section 4.3)', () => {
  let service: TestService;
  let team: TestTeam;
  let number: ConnectedNumber;

  before(async () => {
    service = await startTestService();
    team = await service.newTeam();
    number = await connectNumber(service, team, '+14155550100');
  });
  after(() => service.close());

  it('answers 202 with the queued message', async () => {
    const answer = await team.api.post('/v1/messages/send', {
      from: number.phoneNumber,
      to: '+14155550101',
      content: 'Hello 👋🏽 — «quoted»',
    });
    assert.equal(answer.status, 202);
    assert.equal(answer.json.status, 'queued');
    assert.equal(answer.json.content, 'Hello 👋🏽 — «quoted»');
    assert.match(String(answer.json.id), /^msg_[0-9a-hjkmnp-tv-z]{26}$/);
    assert.match(answer.headers.get('request-id') ?? '', /^req_/);
    const poll = await number.wire.poll();
    assert.equal(poll.action, 'send');
    assert.equal(poll.id, answer.json.id);
    assert.equal((await number.wire.poll({ last: poll.id ?? '' })).action, 'idle');
    const message = await team.api.get(`/v1/messages/${poll.id}`);
    assert.equal(field(message.json, 'status'), 'sent');
  });
});
