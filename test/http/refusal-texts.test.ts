import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { eventTypes } from '#contract/event.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const message = { to: '+14155550101', from: '+14155550100', content: 'Hello' };

describe('the message of a refusal names the fault (specification section 7.1, docs/errors.md)', () => {
  const { service, team } = givenTeam();

  const said = (answer: ApiAnswer) => [answer.status, field(answer.json, 'error.message')];
  const send = (fields: Readonly<Record<string, unknown>>) =>
    team.api.post('/v1/messages/send', { ...message, ...fields });
  const refusal = async (asked: Promise<ApiAnswer>, text: string, param?: string, status = 400) => {
    const answer = await asked;
    assert.deepEqual(said(answer), [status, text]);
    assert.equal(field(answer.json, 'error.param'), param);
  };

  it('the refusal of a body that is too large names the limit of the operation (§7.1/status-400)', async () => {
    const rawBody = '{}'.padEnd(300_000);
    for (const [method, path, limit] of [
      ['PUT', '/v1/team', 16],
      ['POST', '/v1/messages/send', 128],
    ] as const) {
      const asked = team.api.request(method, path, { rawBody });
      await refusal(asked, `The body is too large. Send at most ${limit} KiB.`, undefined, 413);
    }
  });

  it('a compressed body is 415 and names the header at fault (§7.1/status-400)', async () => {
    const rawBody = new Uint8Array(gzipSync(JSON.stringify(message)));
    for (const coding of ['gzip', 'GZIP', 'br', 'gzip, identity']) {
      const headers = { 'content-encoding': coding };
      const answer = await team.api.request('POST', '/v1/messages/send', { rawBody, headers });
      assert.deepEqual(said(answer), [415, 'The body is compressed. Send it without Content-Encoding.']);
      assert.equal(field(answer.json, 'error.param'), 'Content-Encoding');
      assert.equal(answer.headers.get('accept-encoding'), 'identity');
    }
    const headers = { 'content-encoding': 'identity' };
    assert.equal((await team.api.request('PUT', '/v1/team', { body: {}, headers })).status, 200);
  });

  it('the refusal of a number names its minimum and maximum', async () => {
    for (const limit of ['99999999999', '101', '0', '-1', '1.5', 'x', '']) {
      const asked = team.api.get(`/v1/messages?limit=${limit}`);
      await refusal(asked, 'limit must be a whole number from 1 to 100.', 'limit');
    }
  });

  it('the refusal of a value of a wrong type names every allowed type', async () => {
    await refusal(send({ media_url: 5 }), 'media_url must be a string or null.', 'media_url');
    await refusal(send({ content: 5 }), 'content must be a string.', 'content');
  });

  it('the refusal of a text names its shortest or longest length, in the singular or plural', async () => {
    const rename = (name: string) => team.api.put('/v1/team', { name });
    await refusal(rename(''), 'name must have at least 1 character.', 'name');
    await refusal(rename('a'.repeat(101)), 'name may have at most 100 characters.', 'name');
    const invite = team.api.post('/v1/team/members/invite', { email: 'a', role: 'admin' });
    await refusal(invite, 'email must have at least 3 characters.', 'email');
  });

  it('the refusal of a list names the allowed number of entries, and the allowed entries', async () => {
    const create = (events: readonly string[]) =>
      team.api.post('/v1/webhooks', { url: 'https://example.com/', events });
    const choices = eventTypes.join(', ');
    await refusal(create([]), `events must have at least 1 entry, of: ${choices}.`, 'events');
    await refusal(create(['message.read']), `events[0] must be one of: ${choices}.`, 'events');
    const many = Array.from({ length: 51 }, () => 'message.sent');
    await refusal(create(many), 'events may have at most 50 entries.', 'events');
  });

  it('the refusal of a field with a very long name shows its first 100 characters', async () => {
    const shown = `${'n'.repeat(100)}…`;
    const known = 'Known fields: to, from, content, media_url.';
    const name = 'n'.repeat(5_000);
    await refusal(send({ [name]: 1 }), `${shown} is not a field of this request. ${known}`, shown);
    const parameter = `${shown} is not a query parameter of this request. It takes none.`;
    await refusal(team.api.get(`/v1/team?${'n'.repeat(3_000)}`), parameter, shown);
  });

  it('the refusal of a query string names its longest length and its greatest number of parameters (§8/json-bounds)', async () => {
    const text = 'The query string is too long. Send at most 4,096 characters and 50 parameters.';
    for (const [query, param] of [
      [`limit=1&from=${'a'.repeat(5_000)}`, 'from'],
      ['a&'.repeat(51), undefined],
    ] as const) {
      await refusal(team.api.get(`/v1/messages?${query}`), text, param);
      assert.equal((await fetch(`${service.baseUrl}/sign-in?${query}`)).status, 200);
    }
  });

  it('the refusal of a body with too many fields or entries names the field and the limit (§8/json-bounds)', async () => {
    const text = 'has too many fields and entries. Send at most 500 in a body.';
    const entries = Array.from({ length: 4_000 }, () => 'x');
    const create = team.api.post('/v1/webhooks', { url: 'https://example.com/', events: entries });
    await refusal(create, `events ${text}`, 'events');
    const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`f${n}`, n]));
    await refusal(team.api.put('/v1/team', fields), `The body ${text}`);
  });

  it('the refusal of a form with too many fields names the limit (§8/json-bounds)', async () => {
    const answer = await fetch(`${service.baseUrl}/sign-in`, {
      method: 'POST',
      headers: {
        origin: service.baseUrl,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'a=b&'.repeat(51),
    });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /role="alert"[^>]*>The form has too many fields\. Send at most 50\./);
  });

  it('the refusal of a field or parameter without a name shows ""', async () => {
    const known = 'Known fields: to, from, content, media_url.';
    await refusal(send({ '': 1 }), `"" is not a field of this request. ${known}`, '');
    await refusal(
      send({ '': 'a\u0000' }),
      '"" contains the character U+0000, which no phone can show. Leave it out.',
      '',
    );
    const parameter = '"" is not a query parameter of this request. It takes none.';
    await refusal(team.api.get('/v1/team?=1'), parameter, '');
    await refusal(
      team.api.get('/v1/messages?=%FF'),
      '"" must be percent-encoded UTF-8, with every % itself written as %25.',
      '',
    );
  });
});
