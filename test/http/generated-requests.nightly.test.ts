import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { generatedBytes } from '#test/support/generators/generated-bytes.ts';
import { generatedRequests } from '#test/support/generators/generated-requests.ts';
import type { KnownThings } from '#test/support/generators/generated-texts.ts';
import { assertSound } from '#test/support/http/assert-answer.ts';
import type { OpenApi } from '#test/support/http/openapi-document.ts';
import { KeptConnections, rawExchange } from '#test/support/http/raw-http.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { newDelivery, newWebhook } from '#test/support/webhooks/make-webhooks.ts';

const requests = 20_000;
const rawRequests = 4_000;
const pipelines = 800;
const shards = 8;

/** FUZZ_SEED and the path that fast-check prints repeat a failure. */
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Runs parts of the generated requests concurrently, each with its own seed, because fast-check runs one at a time. */
async function assertMany<T>(arbitrary: fc.Arbitrary<T>, runs: number, check: (value: T) => Promise<void>) {
  const property = fc.asyncProperty(arbitrary, check);
  const shard = (n: number) => fc.assert(property, { seed: seed + n, numRuns: Math.ceil(runs / shards) });
  await Promise.all(Array.from({ length: shards }, (_, n) => shard(n)));
}

describe(`generated requests, from seed ${seed} (specification section 7)`, () => {
  let document: OpenApi;
  let known: KnownThings;
  const service = givenService();
  const from = '+14155550100';
  const to = '+14155550101';

  before(async () => {
    const canary = await plantCanary(service);
    const team = await service.newTeam();
    await connectNumber(service, team, from);
    const reader = await service.newKey(team.id, ['team:read']);
    // Enough rows of each kind, so that requests which delete or cancel leave some for later requests.
    const many = Array.from({ length: 40 }, (_, n) => String(n).padStart(2, '0'));
    const ids = await Promise.all(
      many.map(async (n) => {
        const phoneNumber = `+142079460${n}`;
        await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
        const invited = { email: `invited${n}@example.com`, role: 'viewer' };
        return [
          await team.api.send({ from, to, content: `Hello ${n}` }),
          String((await findNumber(team.api, phoneNumber))?.id),
          (await newMember(service, team, n.endsWith('9') ? 'owner' : 'member')).memberId,
          String((await team.api.post('/v1/team/members/invite', invited)).json.invitation_id),
        ];
      }),
    );
    const deliveries = await Promise.all(
      many.map(async (n) => {
        const { id } = await newWebhook(team.api);
        if (n.endsWith('5')) await team.api.post(`/v1/webhooks/${id}/rotate-secret`);
        return { id, delivery_id: await newDelivery(service, team, id) };
      }),
    );
    // With one event in the feed, a long poll of the first page is answered at once.
    await team.api.post(`/v1/messages/${await team.api.send({ from, to, content: 'Never mind' })}/cancel`);
    known = {
      keys: [team.api.key, team.api.key, team.api.key, team.api.key, reader.key],
      ids: [
        ...ids.flat(),
        canary.queuedId,
        canary.inboundId,
        canary.number.numberId,
        canary.memberId,
        canary.invitationId,
        canary.webhookId,
        canary.deliveryId,
        ...deliveries.map(({ id }) => id),
      ],
      deliveries: [...deliveries, { id: canary.webhookId, delivery_id: canary.deliveryId }],
      phoneNumbers: [from, to, '+14155550102', '+442079460000', '+442079460001'],
    };
    document = (await (await fetch(`${service.baseUrl}/v1/openapi.json`)).json()) as OpenApi;
  });

  it(`${requests.toLocaleString('en')} generated requests get well-formed answers, and no invalid request is accepted (§7.1/envelope, §7.2/request-id)`, async () => {
    const client = new KeptConnections(service.baseUrl, shards);
    const outcomes = new Map<string, number>();
    await assertMany(generatedRequests(document, known), requests, async (made) => {
      const answer = await client.ask(made);
      const what = `${made.method} ${made.path} ${JSON.stringify(made.headers)}`;
      assertSound(answer, what);
      if (made.wrong !== undefined) assert.ok(answer.status >= 400, `${what} was taken: ${made.wrong}`);
      const outcome = `${made.operation} ${answer.status}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    });
    client.close();
    assertWide(document, outcomes);
  });

  it(`${rawRequests.toLocaleString('en')} raw requests get well-formed answers, however broken they are (§7.1/envelope)`, async () => {
    const [key = ''] = known.keys;
    await assertMany(generatedBytes(key), rawRequests, async ({ bytes, isWhole }) => {
      const what = Buffer.from(bytes).toString('latin1');
      const answers = await rawExchange(service.baseUrl, bytes, { halfClose: !isWhole });
      assert.ok(answers.length > 0 || !isWhole, `no answer: ${what}`);
      for (const answer of answers) assertSound(answer, what);
    });
  });

  it('pipelined requests are answered in order, and unreadable bytes after them are refused last', async () => {
    const host = `Host: a\r\nx-api-key: ${known.keys[0]}\r\n`;
    const json = (line: string, body: string) =>
      `${line} HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const message = JSON.stringify({ from, to, content: 'Hello' });
    const steps: [string, number][] = [
      [`GET /v1/team HTTP/1.1\r\n${host}\r\n`, 200],
      ['GET /v1/team HTTP/1.1\r\nHost: a\r\n\r\n', 401],
      ['GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n', 404],
      [`PATCH /v1/team HTTP/1.1\r\n${host}\r\n`, 405],
      [json('POST /v1/messages/send', message), 202],
      [json('POST /v1/messages/send', '{}'), 400],
      [json('PUT /v1/team', '{}'), 200],
      [`PUT /v1/team HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`, 415],
    ];
    const ends: [string, number][] = [
      [`GET /v1/team HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 200],
      [`GET /v1/team HTTP/1.1\r\n${host}Connection: close\r\n\r\nmore`, 200],
      ['hello\r\n\r\n', 400],
      [`GET /v1/team HTTP/1.1\r\n${host}x: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
      [`PUT /v1/team HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
      ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ];
    const pipeline = fc.tuple(
      fc.array(fc.constantFrom(...steps), { maxLength: 6 }),
      fc.constantFrom(...ends),
    );
    await assertMany(pipeline, pipelines, async ([before, end]) => {
      const sent = [...before, end];
      const bytes = sent.map(([text]) => text).join('');
      const answers = await rawExchange(service.baseUrl, bytes);
      for (const answer of answers) assertSound(answer, bytes);
      assert.deepEqual(
        answers.map(({ status }) => status),
        sent.map(([, status]) => status),
        bytes,
      );
    });
  });
});

/** Fails unless the requests reached every operation and every kind of answer. */
function assertWide(document: OpenApi, outcomes: ReadonlyMap<string, number>): void {
  const shown = [...outcomes].map(([outcome, times]) => `${outcome}: ${times}`).sort();
  const has = (pattern: RegExp) => shown.some((line) => pattern.test(line));
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods)) {
      for (const status of ['2..', '400', '401']) {
        const wanted = `${method.toUpperCase()} ${path} `.replaceAll(/[{}]/g, '\\$&');
        assert.ok(has(new RegExp(`^${wanted}${status}:`)), `no ${wanted}${status} in\n${shown.join('\n')}`);
      }
    }
  }
  for (const status of [403, 404, 409, 413, 415]) assert.ok(has(new RegExp(` ${status}:`)), `no ${status}`);
}
