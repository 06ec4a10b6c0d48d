import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { offenders, readSources, root } from '#test/support/architecture/sources.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

describe('rules for every file of the code (docs/architecture.md)', () => {
  it('no name in platform/ and http/ has a noun of the product', () => {
    // `webhooks` is also a keyword of OpenAPI, for requests that a server sends.
    const nouns = /\b(messages?_|send_queue|numbers n|usage_months|webhook(?!s: Object\b))/;
    const found = offenders(
      (file) =>
        /^server\/(platform|http)\//.test(file.path) &&
        file.path !== 'server/platform/config.ts' &&
        nouns.exec(file.text)?.[0],
    );
    assert.deepEqual(found, []);
  });

  it('texts for members name the operator of the server, and contain no shell command (section 12.2)', () => {
    const forPeople = /^server\/(accounts|teams|api-keys|usage|numbers|messages|webhooks|dashboard)\//;
    // Without a build no page of the dashboard can be shown, so this file's error has the operator's command.
    const withCommand = 'server/dashboard/web/web-files.ts';
    const found = offenders(
      (file) =>
        forPeople.test(file.path) &&
        file.path !== withCommand &&
        /npm run|your administrator/.exec(file.text)?.[0],
    );
    assert.deepEqual(found, []);
  });

  it('only config.ts reads the environment', () => {
    const found = offenders(
      (file) => file.path !== 'server/platform/config.ts' && /process\.env\b/.exec(file.text)?.[0],
    );
    assert.deepEqual(found, []);
  });

  it('only the Clock reads the time: no Date.now(), no bare new Date(), no now() in SQL', () => {
    // The webhook listener reads the time itself: it is a separate program, which may run on another machine.
    const allowed = [
      'server/platform/time/clock.ts',
      'server/database/clock-store.ts',
      'webhook-listener/listen-command.ts',
    ];
    const time =
      /Date\.now\(\)|new Date\(\)|\b(now|clock_timestamp|statement_timestamp)\(\)(?! \{)|CURRENT_TIMESTAMP/;
    const found = offenders((file) => {
      const code = file.text
        .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
        .replaceAll(/([cC]lock|this|performance)\.now\(\)/g, '');
      return !allowed.includes(file.path) && time.exec(code)?.[0];
    });
    const schema = globSync('server/database/schema/*.sql', { cwd: root }).filter((path) => {
      return time.test(readFileSync(join(root, path), 'utf8').replaceAll(/--.*$/gm, ''));
    });
    assert.deepEqual([...found, ...schema], []);
  });

  it('files have kebab-case names that say what is in them, no barrels, no default exports, and at most 400 lines', () => {
    const found = offenders((file) => {
      const name = basename(file.path, '.ts');
      if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return 'is not kebab-case';
      if (/^(utils?|helpers?|common|misc|index)$/.test(name)) return 'has a name that says nothing';
      if (/^export default|^export \* from/m.test(file.text))
        return 'has a default export or re-exports a file';
      if (file.text.split('\n').length > 400) return 'is longer than 400 lines';
      if (file.text.includes('\0')) return 'has the byte 0, for which git shows no diff';
      return undefined;
    });
    assert.deepEqual(found, []);
  });

  it('files of tests, campaigns and benchmarks have at most 400 lines', () => {
    const found = readSources('{test,campaign,bench,referees}/**/*.ts').filter(
      ({ text }) => text.split('\n').length > 400,
    );
    assertEach(found, ({ path }) => path, []);
  });

  it('no line of a page is longer than 160 characters, except a path of a picture', () => {
    const found = readSources('web/*/*.tsx').flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => line.length > 160 && !/^ *d="M/.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    assert.deepEqual(found, []);
  });

  it('test files have no hooks and no changes of the environment at the top level', () => {
    const shared =
      /^(?:(?:before|after|beforeEach|afterEach)\(|(?:delete |Object\.assign\()?process\.env\b).*/m;
    const found = readSources('test/**/*.ts').flatMap(({ path, text }) => {
      const line = shared.exec(text)?.[0];
      return line ? [`${path}: ${line}`] : [];
    });
    assert.deepEqual(found, []);
  });
});
