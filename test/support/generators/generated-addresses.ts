import fc from 'fast-check';
import type { Parameter } from '#test/support/http/openapi-document.ts';
import { hostileTexts, type KnownThings, validTexts } from './generated-texts.ts';

/** Addresses for a route's path, with valid and invalid ids. */
export function addresses(path: string, known: KnownThings): fc.Arbitrary<string> {
  const ids = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...known.ids) },
    { weight: 2, arbitrary: hostileTexts.map((text) => encodeURIComponent(text.toWellFormed())) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('%', '%zz', '%C3%28', '%00', '%2F', '%252F', '..', ';a=b', '%F0%9F'),
    },
  );
  const some = fc
    .tuple(...path.split('/').map((part) => (part.startsWith('{') ? ids : fc.constant(part))))
    .map((parts) => parts.join('/'));
  if (!path.includes('{delivery_id}')) return some;
  const right = fc
    .constantFrom(...known.deliveries)
    .map(({ id, delivery_id }) => path.replace('{id}', id).replace('{delivery_id}', delivery_id));
  return fc.oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: some });
}

interface Query {
  readonly text: string;
  readonly wrong: string | undefined;
}

/** Query parameters that the operation declares, and some that it does not. */
export function queries(parameters: readonly Parameter[], known: KnownThings): fc.Arbitrary<Query> {
  const declared = parameters.filter((parameter) => parameter.in === 'query');
  const names = declared.map(({ name }) => name);
  const right = declared.map(({ name, schema }) => fc.tuple(fc.constant(name), validTexts(schema, known)));
  const hostile = declared.map(({ name }) => fc.tuple(fc.constant(name), hostileTexts));
  const pairs = fc.oneof(
    { weight: 4, arbitrary: fc.subarray(right).chain((chosen) => fc.tuple(...chosen)) },
    {
      weight: 1,
      arbitrary: fc.array(fc.oneof(...right, ...hostile, fc.tuple(hostileTexts, hostileTexts)), {
        maxLength: 4,
      }),
    },
  );
  const encoded = pairs.map((list: [string, string][]) => {
    const text = list
      .map((pair) => pair.map((part) => encodeURIComponent(part.toWellFormed())).join('='))
      .join('&');
    const unknown = list.find(([name]) => !names.includes(name));
    const repeated = new Set(list.map(([name]) => name)).size < list.length;
    const wrong = unknown
      ? `query parameter ${JSON.stringify(unknown[0])}`
      : repeated
        ? 'repeated parameter'
        : undefined;
    return { text: text === '' ? '' : `?${text}`, wrong };
  });
  const broken = fc.constantFrom(
    '?',
    '?&&&',
    '?=',
    '?%',
    '?%00',
    '?a[b]=c',
    '?limit=1;cursor=',
    '?limit',
    '?+',
    '??',
  );
  return fc.oneof(
    { weight: 9, arbitrary: encoded },
    { weight: 1, arbitrary: broken.map((text) => ({ text, wrong: undefined })) },
  );
}
