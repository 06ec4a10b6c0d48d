import { METHODS } from 'node:http';
import fc from 'fast-check';
import { weighted } from './generated-texts.ts';

/** Bytes that a client writes to one connection. */
export interface GeneratedBytes {
  readonly bytes: Uint8Array;
  /**
   * True if the bytes are a complete request. Otherwise the server may wait for more until the connection is half
   * closed.
   */
  readonly isWhole: boolean;
}

interface Framing {
  readonly headers: readonly string[];
  readonly body: string;
  readonly isWhole: boolean;
}

const chunked = 'Transfer-Encoding: chunked';
const whole = (headers: readonly string[], body: string): Framing => ({ headers, body, isWhole: true });
const cut = (headers: readonly string[], body: string): Framing => ({ headers, body, isWhole: false });

/** Generates HTTP that is valid, nearly valid or invalid, with an API key or without one. */
export function generatedBytes(key: string): fc.Arbitrary<GeneratedBytes> {
  return fc
    .record({ method, target, version, lineEnd, headers: headerLines(key), framing })
    .map(({ method, target, version, lineEnd, headers, framing }) => {
      const lines = [`${method} ${target}${version}`, ...headers, ...framing.headers, 'Connection: close'];
      const text = `${lines.join(lineEnd)}${lineEnd}${lineEnd}${framing.body}`;
      const isWhole = framing.isWhole && lineEnd === '\r\n' && version.startsWith(' HTTP/1');
      return { bytes: Uint8Array.from(Buffer.from(text, 'latin1')), isWhole };
    });
}

// HEAD is left out, because its answer has a length and no body; test/http/router.test.ts covers it.
const method = weighted(
  [6, fc.constantFrom('GET', 'POST', 'PUT', 'DELETE')],
  [2, fc.constantFrom(...METHODS.filter((name) => name !== 'HEAD'))],
  [1, fc.constantFrom('get', 'FETCH', 'G\u0000T', 'PRI', '\u0016\u0003\u0001', '{', 'é')],
);

const target = weighted(
  [
    4,
    fc.constantFrom(
      ...['/v1/numbers', '/v1/numbers/verify', '/v1/messages/send', '/v1/messages', '/v1/team', '/healthz'],
      ...['/v1/device/claim', '/v1/openapi.json', '/v1/messages/msg_01h2xcejqtf2nbrexx3vqjhp41/cancel'],
    ),
  ],
  [
    3,
    fc.constantFrom(
      ...'* / // //v1/numbers /\\ /v1/../v1/numbers /v1/./numbers /v1/numbers#x /% /%00 ? http:// ftp://a/'.split(
        ' ',
      ),
      ...'http://localhost/v1/numbers https://somebody.example:1/v1/team?x=1 http://[::1/v1'.split(' '),
      ...['localhost:80', 'somebody.example:443', 'javascript:0', ''],
      ...['/v1/num bers', '/v1/nümbers', '/v1/numbers?\u0001'],
      ...[
        `/v1/numbers?${'a=&'.repeat(3_000)}`,
        `/v1/messages/${'a'.repeat(15_000)}`,
        `/${'a'.repeat(20_000)}`,
      ],
    ),
  ],
);

const version = weighted(
  [8, fc.constant(' HTTP/1.1')],
  [2, fc.constant(' HTTP/1.0')],
  [
    1,
    fc.constantFrom(
      ...['0.9', '1.2', '2.0', '1', '1.1 x'].map((n) => ` HTTP/${n}`),
      '',
      ' http/1.1',
      '\tHTTP/1.1',
    ),
  ],
);

const lineEnd = weighted([12, fc.constant('\r\n')], [1, fc.constantFrom('\n', '\r', '\n\r', ' \r\n')]);

function headerLines(key: string): fc.Arbitrary<string[]> {
  const usual = fc.constant<string[]>([
    'Host: localhost',
    `x-api-key: ${key}`,
    'Content-Type: application/json',
  ]);
  const unit = fc.integer({ min: 1, max: 255 }).filter((code) => code !== 10 && code !== 13);
  const hostile = fc.oneof(
    fc.constantFrom(
      ...[
        'Host: somebody.example',
        'Host:',
        'Host: a b',
        'broken',
        ': none',
        'x : y',
        ' x: y',
        '\tx',
        'é: 1',
      ],
      ...['x: \u0000', 'x: a\r\n b', 'x: a\rb', 'x: a\nb'],
      ...['x-api-key: own_live_x', `x-api-key: ${key}`, 'x-api-key:'],
      ...['Expect: 100-continue', 'Expect: a-miracle', 'Upgrade: websocket', 'Upgrade: h2c'],
      ...['Trailer: x-api-key', 'TE: trailers', 'Content-Encoding: gzip', 'Content-Type: text/plain'],
      ...['Content-Type:', 'X-Forwarded-For: 1.2.3.4, \u0001', 'Cookie: __proto__=1'],
      ...['Idempotency-Key: a\u00e9', 'Idempotency-Key: a b'],
      ...[`x: ${'a'.repeat(20_000)}`, ...Array.from({ length: 3 }, () => 'x: y\r\n'.repeat(3_000).trimEnd())],
    ),
    fc.string({ unit: unit.map((code) => String.fromCharCode(code)), maxLength: 60 }),
  );
  return fc
    .tuple(
      weighted<string[]>([5, usual], [1, fc.constant([])]),
      weighted<string[]>([2, fc.constant([])], [1, fc.array(hostile, { maxLength: 3 })]),
    )
    .map(([right, wrong]) => [...right, ...wrong]);
}

const framing: fc.Arbitrary<Framing> = weighted(
  [
    4,
    fc.constantFrom(
      whole([], ''),
      whole(['Content-Length: 0'], ''),
      whole(['Content-Length: 2'], '{}'),
      whole([chunked], '2\r\n{}\r\n0\r\n\r\n'),
      whole([chunked], '1\r\n{\r\n001;a=b\r\n}\r\n0\r\nx-api-key: x\r\n\r\n'),
      whole([chunked], '0\r\n\r\n'),
    ),
  ],
  [
    3,
    fc.constantFrom(
      // Bodies that are longer than their announced length.
      whole([], '{}'),
      whole(['Content-Length: 2'], '{}{}'),
      whole(['Content-Length: 2'], '{}\r\n'),
      whole(['Content-Length: 0'], 'GET /v1/numbers HTTP/1.1\r\nHost: a\r\n\r\n'),
      whole([chunked], '2\r\n{}\r\n0\r\n\r\nmore'),
      // Bodies with an invalid length.
      ...['-1', '+2', '0x2', '2.0', '1e1', '2, 2', '2 2', '', '9'.repeat(40), 'two', '2\u0000'].map(
        (length) => whole([`Content-Length: ${length}`], '{}'),
      ),
      whole(['Content-Length: 2', 'Content-Length: 2'], '{}'),
      whole(['Content-Length: 2', 'Content-Length: 3'], '{}'),
      whole(['Content-Length: 2', chunked], '2\r\n{}\r\n0\r\n\r\n'),
      ...['identity', 'gzip', 'chunked, identity', 'xchunked', 'chunked\u0000'].map((coding) =>
        whole([`Transfer-Encoding: ${coding}`], '{}'),
      ),
      ...[
        ...['zz\r\n', '-2\r\n{}\r\n', '\r\n\r\n', `${'f'.repeat(20)}\r\n`],
        ...['2\r\n{}x\r\n0\r\n\r\n', '2 \r\n{}\r\n', '0x2\r\n{}\r\n'],
      ].map((body) => whole([chunked], body)),
      whole([chunked], `2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
      whole([chunked], `2\r\n{}\r\n0\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`),
    ),
  ],
  [
    1,
    fc.constantFrom(
      cut(['Content-Length: 100'], '{}'),
      cut(['Content-Length: 100000000'], '{}'),
      cut([chunked], '2\r\n{'),
      cut([chunked], '2\r\n{}\r\n'),
      cut([chunked], '2\r\n{}\r\n0\r\n'),
      cut([chunked, chunked], '2\r\n{}\r\n0\r\n\r\n'),
      cut(['Transfer-Encoding: gzip, chunked'], '2\r\n{}\r\n0\r\n\r\n'),
    ),
  ],
);
