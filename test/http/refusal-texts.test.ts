import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type ErrorCode, errorStatus } from '#contract/errors.ts';
import { eventTypes } from '#contract/event.ts';
import { denyConnections } from '#test/support/database/lost-connections.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { PageBlocks, printedShape } from '#test/support/processes/page-blocks.ts';
import { runScript } from '#test/support/processes/run-script.ts';
import { type ApiAnswer, type ApiClient, field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenService, givenTeam } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { putAccepted, putSpentMinute } from '#test/support/usage/given-usage.ts';

const message = { to: '+14155550101', from: '+14155550102', content: 'Hello' };

describe('the message of a refusal names the fault (specification section 7.1, docs/errors.md)', () => {
  const { service, team } = givenTeam();
  given(() => connectNumber(service, team, message.from));

  const send = (fields: Readonly<Record<string, unknown>>) =>
    team.api.post('/v1/messages/send', { ...message, ...fields });
  const rename = (name: string) => team.api.put('/v1/team', { name });
  const create = (events: readonly string[]) =>
    team.api.post('/v1/webhooks', { url: 'https://example.com/', events });
  const assertRefused = (answer: ApiAnswer, text: string, param?: string, status = 400) => {
    assert.deepEqual([answer.status, field(answer.json, 'error.message')], [status, text]);
    assert.equal(field(answer.json, 'error.param'), param);
  };

  it('a body has at most 16 KiB, that of a send 128 KiB, and the refusal of a byte more names the limit (§8/body-sizes)', async () => {
    for (const [method, path, body, limit, status] of [
      ['PUT', '/v1/team', '{"name":"Example"}', 16, 200],
      ['POST', '/v1/messages/send', JSON.stringify(message), 128, 202],
    ] as const) {
      const put = (bytes: number) => team.api.request(method, path, { rawBody: body.padEnd(bytes) });
      assert.equal((await put(limit * 1_024)).status, status);
      const text = `The body is too large. Send at most ${limit} KiB.`;
      assertRefused(await put(limit * 1_024 + 1), text, undefined, 413);
    }
  });

  it('a compressed body is 415 and names the header at fault', async () => {
    const rawBody = new Uint8Array(gzipSync(JSON.stringify(message)));
    for (const coding of ['gzip', 'GZIP', 'br', 'gzip, identity']) {
      const headers = { 'content-encoding': coding };
      const answer = await team.api.request('POST', '/v1/messages/send', { rawBody, headers });
      const text = 'The body is compressed. Send it without Content-Encoding.';
      assertRefused(answer, text, 'Content-Encoding', 415);
      assert.equal(answer.headers.get('accept-encoding'), 'identity');
    }
    const headers = { 'content-encoding': 'identity' };
    assert.equal((await team.api.request('PUT', '/v1/team', { body: {}, headers })).status, 200);
  });

  it('the refusal of a value names the allowed types, numbers, lengths or entries', async () => {
    const choices = eventTypes.join(', ');
    const invite = { email: 'a', role: 'admin' };
    const noPage = 'cursor must be the cursor of the page before, or be left out for the first page.';
    const refusals: readonly (readonly [Promise<ApiAnswer>, string, string])[] = [
      [send({ media_url: 5 }), 'media_url must be a string or null.', 'media_url'],
      [send({ content: 5 }), 'content must be a string.', 'content'],
      [rename(''), 'name must have at least 1 character.', 'name'],
      [rename('a'.repeat(101)), 'name may have at most 100 characters.', 'name'],
      [team.api.post('/v1/team/members/invite', invite), 'email must have at least 3 characters.', 'email'],
      [create([]), `events must have at least 1 entry, of: ${choices}.`, 'events'],
      [create(['message.read']), `events[0] must be one of: ${choices}.`, 'events'],
      [create(Array(51).fill('message.sent')), 'events may have at most 50 entries.', 'events'],
      [team.api.get('/v1/team/invitations?cursor=x'), noPage, 'cursor'],
    ];
    for (const [answer, text, param] of refusals) assertRefused(await answer, text, param);
    for (const limit of ['99999999999', '101', '0', '-1', '1.5', 'x', '']) {
      for (const path of ['/v1/messages', '/v1/team/invitations']) {
        const answer = await team.api.get(`${path}?limit=${limit}`);
        assertRefused(answer, 'limit must be a whole number from 1 to 100.', 'limit');
      }
    }
  });

  it('the refusal of an unknown field shows "" for an empty name, and the first 100 characters of a long name', async () => {
    const known = 'is not a field of this request. Known fields: to, from, content, media_url, media_id.';
    const unknown = 'is not a query parameter of this request. It takes none.';
    const shown = `${'n'.repeat(100)}…`;
    const noCharacter = 'contains the character U+0000, which no phone can show. Leave it out.';
    const noUtf8 = 'must be percent-encoded UTF-8, with every % itself written as %25.';
    assertRefused(await send({ ['n'.repeat(5_000)]: 1 }), `${shown} ${known}`, shown);
    assertRefused(await team.api.get(`/v1/team?${'n'.repeat(3_000)}`), `${shown} ${unknown}`, shown);
    assertRefused(await send({ '': 1 }), `"" ${known}`, '');
    assertRefused(await send({ '': 'a\u0000' }), `"" ${noCharacter}`, '');
    assertRefused(await team.api.get('/v1/team?=1'), `"" ${unknown}`, '');
    assertRefused(await team.api.get('/v1/messages?=%FF'), `"" ${noUtf8}`, '');
  });

  it('the refusal of a query string, body or form with too many parts names the limit (§8/json-bounds)', async () => {
    const query = 'The query string is too long. Send at most 4,096 characters and 50 parameters.';
    for (const [search, param] of [
      [`limit=1&from=${'a'.repeat(5_000)}`, 'from'],
      ['a&'.repeat(51), undefined],
    ] as const) {
      assertRefused(await team.api.get(`/v1/messages?${search}`), query, param);
      assert.equal((await fetch(`${service.baseUrl}/sign-in?${search}`)).status, 200);
    }
    const body = 'has too many fields and entries. Send at most 500 in a body.';
    assertRefused(await create(Array(4_000).fill('x')), `events ${body}`, 'events');
    const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`f${n}`, n]));
    assertRefused(await team.api.put('/v1/team', fields), `The body ${body}`);
    const form = await fetch(`${service.baseUrl}/sign-in`, {
      method: 'POST',
      headers: { origin: service.baseUrl, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'a=b&'.repeat(51),
    });
    assert.equal(form.status, 400);
    assert.match(await form.text(), /role="alert"[^>]*>The form has too many fields\. Send at most 50\./);
  });
});

describe('the examples of docs/errors.md (§7.1/envelope)', () => {
  const service = givenService({ RATE_LIMITS: 'on' });
  const team = given(() => service.newTeam({ monthlyLimit: 100 }));
  const page = given(() => PageBlocks.read('docs/errors.md'));

  before(() => connectNumber(service, team, '+14155550100'));

  /** Makes the state of each example, in this order. The database goes away in the last one. */
  const prepare: Readonly<Record<ErrorCode, () => Promise<ApiClient>>> = {
    invalid_request: async () => team.api,
    unauthorized: async () => team.api,
    not_found: async () => team.api,
    forbidden: () => service.newKey(team.id, ['messages:send']),
    conflict: async () => team.api,
    plan_limit_exceeded: async () => {
      await putAccepted(service, team.id, 100);
      return team.api;
    },
    rate_limited: async () => {
      const busy = await service.newTeam();
      nextMinute(service.clock);
      await putSpentMinute(service, busy.id, 0);
      return busy.api;
    },
    internal_error: async () => team.api,
  };

  const answerOf = (status: number, { key }: ApiClient) =>
    runScript(`set -eu\nOWNLINE=${service.baseUrl}\nKEY=${key}\n${page.one(`sh ${status}`)}`);

  for (const code of Object.keys(prepare) as ErrorCode[]) {
    // Without its database the server answers 503 instead of 500.
    const status = code === 'internal_error' ? 503 : errorStatus[code];
    it(`the request of the example ${status} gets its answer`, async (t) => {
      const api = await prepare[code]();
      const denial = code === 'internal_error' ? await denyConnections(service) : undefined;
      t.after(() => denial?.allow());
      assert.equal(printedShape(await answerOf(status, api)), printedShape(page.one(`json ${status}`)));
    });
  }
});
