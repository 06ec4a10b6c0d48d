import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Answer } from '#server/http/route.ts';
import { StaticAnswer } from '#server/http/static-answer.ts';

const text = 'Ownline '.repeat(1_000);
const large = Buffer.alloc(1_024 * 1_024 + 1, text);
const type = { 'content-type': 'text/plain; charset=utf-8' };

const ask = (content: StaticAnswer, accepted?: string, known?: string): Promise<Answer> =>
  content.answer({
    headers: {
      ...(accepted === undefined ? {} : { 'accept-encoding': accepted }),
      ...(known === undefined ? {} : { 'if-none-match': known }),
    },
  });
const decoded = ({ body, headers }: Answer): string => {
  assert.ok(Buffer.isBuffer(body));
  const coding = headers?.['content-encoding'];
  if (coding === 'br') return brotliDecompressSync(body).toString();
  return (coding === 'gzip' ? gunzipSync(body) : body).toString();
};

describe('static answers (specification section 7.2)', () => {
  it('a static answer is made and compressed once, and all responses share the bytes', async () => {
    let made = 0;
    const content = new StaticAnswer(async () => {
      made += 1;
      return { body: text, headers: type };
    });
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(content, 'br')));
    answers.push(await ask(content, 'br'));
    assert.equal(made, 1);
    assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
  });

  it('a static answer is made again after making it failed', async () => {
    let made = 0;
    const content = new StaticAnswer(async () => {
      made += 1;
      if (made === 1) throw new Error('not yet');
      return { body: text, headers: type };
    });
    await assert.rejects(ask(content), /not yet/);
    assert.equal(decoded(await ask(content)), text);
  });

  it('a static answer has the coding that the client weighs highest, Brotli before gzip', async () => {
    const content = new StaticAnswer(async () => ({ body: text, headers: type }));
    const table: readonly (readonly [string | undefined, string | undefined])[] = [
      [undefined, undefined],
      ['', undefined],
      ['identity', undefined],
      ['deflate', undefined],
      ['gzip', 'gzip'],
      ['gzip, deflate, br, zstd', 'br'],
      ['GZIP', 'gzip'],
      ['gzip, br;q=0.5', 'gzip'],
      ['gzip;q=0.2, identity;q=0.5', undefined],
      ['br;q=0, gzip;q=0', undefined],
      ['*', 'br'],
      ['br;q=0, *;q=0.1', 'gzip'],
      ['gzip;q=x', undefined],
      [`${'x, '.repeat(5_000)}br`, undefined],
    ];
    for (const [accepted, coding] of table) {
      const answer = await ask(content, accepted);
      assert.equal(answer.headers?.['content-encoding'], coding, String(accepted));
      assert.equal(answer.headers?.vary, 'accept-encoding');
      assert.equal(decoded(answer), text, String(accepted));
    }
  });

  it('a static answer above 1 MiB is compressed, even for a client without Accept-Encoding', async () => {
    const content = new StaticAnswer(async () => ({ body: large, headers: type }));
    for (const accepted of [undefined, 'identity', 'gzip;q=0', 'gzip']) {
      assert.equal((await ask(content, accepted)).headers?.['content-encoding'], 'gzip', String(accepted));
    }
    const answer = await ask(content, 'br');
    assert.equal(answer.headers?.['content-encoding'], 'br');
    assert.equal(decoded(answer), large.toString());
  });

  it('a static answer below 1 KiB is not compressed', async () => {
    const content = new StaticAnswer(async () => ({ body: 'short', headers: type }));
    const answer = await ask(content, 'br');
    assert.deepEqual([answer.headers?.['content-encoding'], decoded(answer)], [undefined, 'short']);
  });

  it('a static answer has a strong ETag per coding, which gets 304 in If-None-Match', async () => {
    const content = new StaticAnswer(async () => ({ body: text, headers: type }));
    const codings = ['br', 'gzip', 'identity'];
    const tags = await Promise.all(
      codings.map(async (coding) => String((await ask(content, coding)).headers?.etag)),
    );
    assert.equal(new Set(tags).size, 3);
    for (const [index, coding] of codings.entries()) {
      const tag = tags[index] ?? '';
      assert.match(tag, /^"[\w-]{43}"$/);
      for (const known of [tag, `"other", ${tag}`, `W/${tag}`, '*']) {
        const { status, body, headers } = await ask(content, coding, known);
        assert.deepEqual([status, body], [304, undefined], known);
        assert.deepEqual(headers, { etag: tag, vary: 'accept-encoding', 'cache-control': 'no-cache' });
      }
      for (const known of ['"other"', '', tags[(index + 1) % 3] ?? '']) {
        assert.equal((await ask(content, coding, known)).status, undefined, known);
      }
    }
  });
});
