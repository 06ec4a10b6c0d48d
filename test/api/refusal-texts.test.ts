import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type ApiAnswer, field } from '#test/support/api-client.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/test-service.ts';

const message = { to: '+14155550101', from: '+14155550100', content: 'Hello' };

describe('what a refusal says is what is wrong (specification section 7.1, docs/errors.md)', () => {
  let service: TestService;
  let team: TestTeam;

  before(async () => {
    service = await startTestService();
    team = await service.newTeam();
  });
  after(() => service.close());

  const said = (answer: ApiAnswer) => [answer.status, field(answer.json, 'error.message')];
  const send = (fields: Readonly<Record<string, unknown>>) =>
    team.api.post('/v1/messages/send', { ...message, ...fields });
  const refusal = async (asked: Promise<ApiAnswer>, text: string, param?: string, status = 400) => {
    const answer = await asked;
    assert.deepEqual(said(answer), [status, text]);
    assert.equal(field(answer.json, 'error.param'), param);
  };

  it('a body that is too large: how large one may be, on every operation', async () => {
    const rawBody = '{}'.padEnd(300_000);
    for (const [method, path] of [
      ['PUT', '/v1/team'],
      ['POST', '/v1/messages/send'],
    ] as const) {
      const asked = team.api.request(method, path, { rawBody });
      await refusal(asked, 'The body is too large: it may have 256 KiB.', undefined, 413);
    }
  });

  it('a body that is compressed: 415, and the header at fault', async () => {
    const rawBody = new Uint8Array(gzipSync(JSON.stringify(message)));
    for (const coding of ['gzip', 'GZIP', 'br', 'gzip, identity']) {
      const headers = { 'content-encoding': coding };
      const answer = await team.api.request('POST', '/v1/messages/send', { rawBody, headers });
      assert.deepEqual(said(answer), [415, 'Send the body as it is, without Content-Encoding.']);
      assert.equal(field(answer.json, 'error.param'), 'Content-Encoding');
      assert.equal(answer.headers.get('accept-encoding'), 'identity');
    }
    const headers = { 'content-encoding': 'identity' };
    assert.equal((await team.api.request('PUT', '/v1/team', { body: {}, headers })).status, 200);
  });

  it('a number that is none or out of range: from where to where', async () => {
    for (const limit of ['99999999999', '101', '0', '-1', '1.5', 'x', '']) {
      const asked = team.api.get(`/v1/messages?limit=${limit}`);
      await refusal(asked, 'limit must be a whole number from 1 to 100.', 'limit');
    }
  });

  it('a value of another type: every type that would do', async () => {
    await refusal(send({ media_url: 5 }), 'media_url must be a string or null.', 'media_url');
    await refusal(send({ content: 5 }), 'content must be a string.', 'content');
  });

  it('a text that is too short or too long: how many characters, one or many', async () => {
    const rename = (name: string) => team.api.put('/v1/team', { name });
    await refusal(rename(''), 'name must have at least 1 character.', 'name');
    await refusal(rename('a'.repeat(101)), 'name may have at most 100 characters.', 'name');
    const invite = team.api.post('/v1/team/members/invite', { email: 'a', role: 'admin' });
    await refusal(invite, 'email must have at least 3 characters.', 'email');
  });

  it('a field or parameter without a name: ""', async () => {
    const known = 'Known fields: to, from, content, media_url.';
    await refusal(send({ '': 1 }), `"" is not a field of this request. ${known}`, '');
    await refusal(send({ '': 'a\u0000' }), '"" contains the character U+0000, which no phone can show.', '');
    const parameter = '"" is not a query parameter of this request. It takes none.';
    await refusal(team.api.get('/v1/team?=1'), parameter, '');
    await refusal(
      team.api.get('/v1/messages?=%FF'),
      '"" must be percent-encoded UTF-8, with every % itself written as %25.',
      '',
    );
  });
});
