import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { readSources, root, withoutComments } from '#test/support/architecture/sources.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

const sources = readSources('web/*/*.{ts,tsx}').map(({ path, text }) => ({
  path,
  text: withoutComments(text).replaceAll(/^import .*|\{\/\*.*\*\/\}|[cC]lassName(=|: ).*/gm, ''),
}));

/** Attributes and properties that people see or hear. */
const shown =
  'aria-label|alt|action|cancel|description|head|hint|keep|label|legend|placeholder|text|title|what';

/** Patterns of texts for people in code: between tags, in an attribute or property, or a string that is a sentence. */
const inCode = [
  />[^<>{}=;()]*[a-z][^<>{}=;]*<\//,
  /^ +[A-Z“][\p{L}’]*( [^=(){};<>]*)?[^,;({]$/mu,
  /\} (?!(?:else|from|as|satisfies|catch|finally|while)\b)[a-z’]+[^<>(){}=;:\n]*(?:[<{]|$)/m,
  new RegExp(`\\b(?:${shown})=(?:"|\\{[^}\\n]*['\`])[^{}<>'"\`\n]*[a-z]`),
  new RegExp(`\\b(?:${shown}): ['\`][^'\`]*[a-z]`),
  /(?<!Error\()(['`])[A-Z“][\p{L}’]*[ ,.:…][^'`]*\p{L}[^'`]*\1/u,
  /(['`]) [a-z]+ [^'`()\n]*\1/,
];

/** Strings that are not texts for people, or that are the same in every language. */
const allowed = /· Ownline|Ownline (?:Inbound|Outbox)|'Wait, or'|'Samsung Internet'/;

type Entry = string | { readonly [key: string]: Entry };
const catalogues = globSync('web/*/texts{,.*}.json', { cwd: root });
const namesIn = (text: string) => new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));

/** All texts of a catalogue, by key. The forms of a plural text count as one, because a form may omit the count. */
function textsOf(catalogue: Entry): readonly { readonly key: string; readonly text: string }[] {
  return Object.entries(catalogue).flatMap(([key, entry]) => {
    if (typeof entry === 'string') return [{ key, text: entry }];
    const [, count] = key.split(' ');
    return count ? [{ key, text: [...Object.values(entry), count].join(' ') }] : textsOf(entry);
  });
}

const readTexts = (path: string) => textsOf(JSON.parse(readFileSync(join(root, path), 'utf8')));

/** The keys of a catalogue with their groups and forms. */
const keysOf = (entry: Entry): string[] =>
  typeof entry === 'string'
    ? ['']
    : Object.entries(entry).flatMap(([key, part]) => keysOf(part).map((rest) => `${key}.${rest}`));
const readKeys = (path: string) => new Set(keysOf(JSON.parse(readFileSync(join(root, path), 'utf8'))));

describe('texts of the dashboard', () => {
  it('no text that people read is outside the catalogues', () => {
    const found = sources.flatMap(({ path, text }) =>
      inCode.flatMap((pattern) =>
        [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))]
          .map(([literal]) => literal.trim())
          .filter((literal) => !allowed.test(literal))
          .map((literal) => `${path}: ${literal}`),
      ),
    );
    assert.deepEqual(found, []);
  });

  it('only web/kit formats numbers, times and lists by language', () => {
    const found = readSources('web/!(kit)/**/*.{ts,tsx}').filter(({ text }) =>
      /\bIntl\.|\.toLocale/.test(text),
    );
    assertEach(found, ({ path }) => path, []);
  });

  it('each text of a catalogue uses exactly the values that its key names', () => {
    const found = catalogues.flatMap((path) =>
      readTexts(path)
        .filter(({ key, text }) => namesIn(key).symmetricDifference(namesIn(text)).size > 0)
        .map(({ key }) => `${path}: ${key}`),
    );
    assert.deepEqual(found, []);
  });

  it('each catalogue of another language has exactly the keys of the English one, with the same forms (§12.3/languages)', () => {
    const found = catalogues.flatMap((path) => {
      const english = path.replace(/texts\.\w+\.json$/, 'texts.json');
      return [...readKeys(path).symmetricDifference(readKeys(english))].map((key) => `${path}: ${key}`);
    });
    assert.deepEqual(found, []);
  });

  it('each text of a catalogue is used in the folder of that catalogue', () => {
    const found = catalogues.flatMap((path) => {
      const code = readSources(`{${dirname(path)},web/kit,contract}/*.{ts,tsx}`).map(({ text }) => text);
      return readTexts(path)
        .map(({ key }) => key.split(' ')[0] ?? '')
        .filter((name) => !code.some((text) => new RegExp(`\\b${name}\\b`).test(text)))
        .map((name) => `${path}: ${name}`);
    });
    assert.deepEqual(found, []);
  });
});
