import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { generatedBytes } from '#test/support/generators/generated-bytes.ts';
import { assertSound } from '#test/support/http/assert-answer.ts';
import { rawExchange } from '#test/support/http/raw-http.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';

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
  const { service, team } = givenTeamBesideCanary();
  const from = '+14155550100';
  const to = '+14155550101';

  before(() => connectNumber(service, team, from));

  it(`${rawRequests.toLocaleString('en')} raw requests get well-formed answers, however broken they are (§7.1/envelope)`, async () => {
    await assertMany(generatedBytes(team.api.key), rawRequests, async ({ bytes, isWhole }) => {
      const what = Buffer.from(bytes).toString('latin1');
      const answers = await rawExchange(service.baseUrl, bytes, { halfClose: !isWhole });
      assert.ok(answers.length > 0 || !isWhole, `no answer: ${what}`);
      for (const answer of answers) assertSound(answer, what);
    });
  });

  it('pipelined requests are answered in order, and unreadable bytes after them are refused last', async () => {
    const host = `Host: a\r\nx-api-key: ${team.api.key}\r\n`;
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
