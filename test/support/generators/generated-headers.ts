import fc from 'fast-check';
import type { KnownThings } from './generated-texts.ts';

interface Headers {
  readonly values: Record<string, string>;
  readonly wrong: string | undefined;
}

/** Keys, idempotency keys, content types and other headers, mostly valid. */
export function headers(known: KnownThings): fc.Arbitrary<Headers> {
  const visible = fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
    maxLength: 300,
  });
  const [good = ''] = known.keys;
  const key = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...known.keys) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(undefined, '', good.slice(1), `${good}, ${good}`, good.toUpperCase()),
    },
    { weight: 1, arbitrary: visible },
  );
  const idempotency = fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('a', 'b', 'c', '', ' ', 'a b', 'a, b', 'k'.repeat(255), 'k'.repeat(256)),
    },
    { weight: 1, arbitrary: visible },
  );
  const type = fc.oneof(
    {
      weight: 12,
      arbitrary: fc.constantFrom('application/json', 'application/json; charset=utf-8', 'Application/JSON'),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        undefined,
        '',
        'text/plain',
        'application/jsonp',
        ';;;',
        'a/b;c="',
        'multipart/form-data',
      ),
    },
    { weight: 1, arbitrary: visible },
  );
  const other = fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>>(
        { 'accept-encoding': 'br;q=1e9', accept: 'nothing/*' },
        { 'content-encoding': 'gzip' },
        { 'x-http-method-override': 'DELETE', 'x-forwarded-for': "'; --", forwarded: 'for=[::1' },
        { host: 'somebody.example', origin: 'null', cookie: 'a=b; '.repeat(500) },
        { range: 'bytes=0-', 'if-none-match': '*', 'if-modified-since': 'never' },
        { 'request-id': 'mine', traceparent: '00-x', 'x-device-token': 'dev_x', authorization: 'Bearer x' },
      ),
    },
  );
  return fc.record({ key, idempotency, type, other }).map(({ key, idempotency, type, other }) => {
    const named = { 'x-api-key': key, 'idempotency-key': idempotency, 'content-type': type };
    const sent = Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const isKnown = key !== undefined && known.keys.includes(key.trim());
    return { values: { ...Object.fromEntries(sent), ...other }, wrong: isKnown ? undefined : 'key' };
  });
}
