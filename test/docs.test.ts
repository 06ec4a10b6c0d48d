import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { errorStatus } from '#contract/errors.ts';
import { eventExamples } from '#contract/event-examples.ts';
import { failureCodes, messageStatuses } from '#contract/message.ts';
import { optInWords, optOutWords } from '#contract/opt-out-words.ts';
import { allows, permissions } from '#contract/permissions.ts';
import { type Plan, planNames, plans } from '#contract/plans.ts';
import { connectionsMax } from '#server/database/database.ts';
import { messageSteps } from '#server/messages/message-status.ts';
import { defaultPacing } from '#server/numbers/pacing.ts';
import { iphoneForm } from '#test/coverage/iphone-form.ts';
import { schemaDocument } from '#test/coverage/schema-document.ts';
import { readSpecification } from '#test/coverage/specification-rules.ts';
import { statesDocument } from '#test/coverage/states-document.ts';
import { repository } from '#test/support/processes/spawned-service.ts';
import { assertEach, assertNone } from '#test/support/service/assert-each.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const specification = readSpecification().replaceAll(/\s*<!-- .* -->/g, '');
/** Code and documents, without lines about planned features. */
const texts = globSync(['server/**/*.ts', 'docs/**/*.md', '*.md'], { cwd: repository })
  .filter((path) => path !== 'CHANGELOG.md')
  .map((path) => ({ path, text: read(path).replaceAll(/^.*\*\(planned\)\*.*$/gm, '') }));
/** The text of a section, up to the next heading. */
const section = (number: string) =>
  specification.split(/^##+ /m).find((part) => part.startsWith(`${number} `)) ?? '';

describe('the documents agree with the code', () => {
  it('docs/configuration.md has exactly the settings that the code reads', () => {
    const names = [
      ...read('server/platform/config.ts').matchAll(
        /(?<=settings(?:\.\w+\(\s*|, |, '[A-Z\d_]+', ))'([A-Z\d_]+)'/g,
      ),
    ].map((match) => match[1]);
    const rows = read('docs/configuration.md')
      .split('\n')
      .filter((line) => line.startsWith('| `') && !line.includes('planned'));
    const documented = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([A-Z\d_]+)`/g)].map((match) => match[1]),
    );
    assert.deepEqual(documented.sort(), [...new Set(names)].sort());
  });

  it('the README of the client for TypeScript names each of its dependencies', () => {
    const { dependencies } = JSON.parse(read('clients/typescript/package.json')) as { dependencies: object };
    const names = Object.keys(dependencies);
    const [, sentence = ''] =
      /It has\s+two dependencies: ([^.]+)/.exec(read('clients/typescript/README.md')) ?? [];
    assert.equal(names.length, 2);
    for (const name of names) assert.ok(sentence.includes(name), name);
  });

  it('each period that code or documents name in the form of a setting is a setting', () => {
    const config = read('server/platform/config.ts');
    const named = texts.flatMap(({ path, text }) =>
      [...text.matchAll(/\b[A-Z]+(?:_[A-Z]+)*_(?:DAYS|HOURS|SECONDS|MS)\b/g)].map(([name]) => ({
        path,
        name,
      })),
    );
    assert.ok(named.length > 20);
    assertNone(named, ({ name }) => !config.includes(`'${name}'`));
  });

  it('each command that code or documents name exists', () => {
    const cli = globSync(['server/cli/*.ts', 'server/*/*-command?(s).ts'], { cwd: repository })
      .map(read)
      .join('\n');
    const commands = new Set([...cli.matchAll(/\.command\('([a-z-]+)'\)/g)].map((match) => match[1]));
    const groups = new Set([...cli.matchAll(/= program\.command\('([a-z-]+)'\)/g)].map((match) => match[1]));
    const named = texts.flatMap(({ path, text }) =>
      [...text.matchAll(/(?:`|-s |: )ownline (?:-- )?([a-z]+(?:-[a-z]+)*)(?: ([a-z]+(?:-[a-z]+)*))?/g)].map(
        ([, command, sub]) => ({ path, command, sub }),
      ),
    );
    assert.ok(named.length > 15);
    const missing = named.filter(
      ({ command, sub }) =>
        !commands.has(command) || (groups.has(command) && sub !== undefined && !commands.has(sub)),
    );
    assert.deepEqual(missing, []);
    const listed = read('docs/commands.md');
    const absent = [...commands].filter(
      (name) => !groups.has(name) && !new RegExp(`\\b${name}\\b`).test(listed),
    );
    assert.deepEqual(absent, [], 'docs/commands.md names each command');
  });

  it('docs/operations.md has each of its sections in its table of contents, and other files name only sections that exist', () => {
    const operations = read('docs/operations.md');
    const sections = [...operations.matchAll(/^## (.+)$/gm)].map(([, name = '']) => name);
    const listed = [...operations.matchAll(/\[([^\]]+)\]\(#([a-z-]+)\)/g)];
    assertEach(listed, ([, name]) => name, sections);
    for (const [, name = '', anchor] of listed) assert.equal(name.toLowerCase().replaceAll(' ', '-'), anchor);
    const deployed = globSync('deploy/**/*.{conf,yml,yaml,json,service}', { cwd: repository });
    const named = [...texts, ...deployed.map((path) => ({ path, text: read(path) }))].flatMap(
      ({ path, text }) =>
        [...text.matchAll(/operations\.md\)?, (?:(?: and )?(?:"[^"]+"|\*[^*]+\*))+/g)].flatMap(([words]) =>
          [...words.matchAll(/["*]([^"*]+)["*]/g)].map(([, name = '']) => ({
            path,
            name: name.replaceAll('\n', ' '),
          })),
        ),
    );
    assert.ok(named.length > 15);
    assertNone(named, ({ name }) => !sections.includes(name));
  });

  it('docs/operations.md has the number of database connections of a process', () => {
    assert.ok(
      read('docs/operations.md').includes(`Each process takes up to ${connectionsMax} connections`),
      `up to ${connectionsMax} connections`,
    );
  });

  it('the README says that no iPhone was tried for as long as docs/connect-an-iphone.md says so, and stays short', () => {
    const untried = /has been tried on a real iPhone yet/;
    assert.equal(untried.test(read('README.md')), untried.test(read('docs/connect-an-iphone.md')));
    assert.ok(read('README.md').split('\n').length <= 75);
  });

  it('README.md and docs/operations.md have the pacing limits of a number', () => {
    const pacing = defaultPacing('gentle');
    const shown = [
      `${pacing.gap_min_seconds} to ${pacing.gap_max_seconds} s between two messages`,
      `at most ${pacing.messages_per_hour} `,
      `${pacing.messages_per_day} `,
    ];
    for (const path of ['README.md', 'docs/operations.md'])
      for (const text of shown) assert.ok(read(path).includes(text), `${path}: ${text}`);
  });

  it('no loop in a shell block of a document can wait without an end', () => {
    const blocks = globSync(['*.md', 'docs/*.md', 'clients/*/README.md'], { cwd: repository }).flatMap(
      (path) =>
        [...read(path).matchAll(/^```sh.*\n([\s\S]*?)^```$/gm)].map(([, text = '']) => ({ path, text })),
    );
    assert.ok(blocks.length > 50);
    assertNone(
      blocks,
      ({ text }) => /(^|[;&|] *)(until|while) /m.test(text),
      'use a loop over `seq`, with a message at its end',
    );
  });

  it('every path in CONTRIBUTING.md exists', () => {
    const contributing = read('CONTRIBUTING.md');
    const quoted = [...contributing.matchAll(/`([\w./-]+\/[\w./-]*|[\w-]+\.(?:ts|md))`/g)].map(
      ([, path = '']) => path,
    );
    const isThere = (path: string) =>
      existsSync(join(repository, path)) ||
      (!path.includes('/') &&
        globSync(`server/**/${path.startsWith('-') ? '*' : ''}${path}`, { cwd: repository }).length > 0);
    assert.ok(quoted.length > 20);
    assertNone(quoted, (path) => !isThere(path));
  });

  it('docs/errors.md has each error code with its status (§7.1/envelope)', () => {
    const errors = read('docs/errors.md');
    for (const [code, status] of Object.entries(errorStatus)) {
      assert.match(errors, new RegExp(`^\\| *\`?${status}\`?[^|]*\\| *\`${code}\``, 'm'));
    }
  });

  it('docs/errors.md has each permission with those that it includes', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+:\w+|\*)` \|[^|]+\| ([^|]+) \|$/gm)];
    const expected = [...permissions, '*' as const].map((own) => {
      const included = permissions.filter((other) => other !== own && allows([own], other));
      const names = included.map((name) => `\`${name}\``).join(', ');
      return [own, own === '*' ? 'all' : names || 'none'];
    });
    assertEach(rows, ([, name, included]) => [name, included], expected);
  });

  it('docs/errors.md has the rate limit of each plan (§8/plan-requests)', () => {
    for (const name of planNames)
      assert.ok(
        read('docs/errors.md').includes(`${plans[name].requestsPerMinute.toLocaleString('en')} (${name})`),
        name,
      );
  });

  it('docs/receive-events.md has each type of event with the fields of its data', () => {
    const rows = [...read('docs/receive-events.md').matchAll(/^\| `(\w+\.\w+)` \|.*\| ([^|]+) \|$/gm)];
    const shown = rows.map(([, type, fields = '']) => [type, fields.replaceAll('`', '').split(', ')]);
    const expected = Object.entries(eventExamples).map(([type, { data }]) => [type, Object.keys(data)]);
    assert.deepEqual(Object.fromEntries(shown), Object.fromEntries(expected));
  });

  it('the examples of clients/typescript/README.md contain no type annotations, as that page says', () => {
    const examples = [...read('clients/typescript/README.md').matchAll(/^```ts .+\n([\s\S]*?)^```$/gm)];
    assert.ok(examples.length > 5);
    for (const [, text = ''] of examples) assert.equal(stripTypeScriptTypes(text), text);
  });

  it('section 3 of the specification has each reason of failure and each step of the state table', () => {
    for (const code of failureCodes) assert.ok(section('3.2').includes(`\`${code}\``), code);
    for (const status of messageStatuses) assert.ok(section('3.1').includes(status), status);
    for (const { from, to } of Object.values(messageSteps))
      assert.ok(section('3.1').includes(from) && section('3.1').includes(to));
  });

  it('docs/states.md is derived from the state tables of messages and deliveries', () => {
    assert.equal(read('docs/states.md'), statesDocument(), 'docs/states.md is stale: run `npm run docs`.');
  });

  it('docs/schema.md is derived from the SQL of the schema', () => {
    assert.equal(read('docs/schema.md'), schemaDocument(), 'docs/schema.md is stale: run `npm run docs`.');
  });

  it('the form of iPhone reports has each row of docs/iphone.md', () => {
    const form = read('.github/ISSUE_TEMPLATE/iphone-report.yml');
    assert.equal(form, iphoneForm(), 'the form of iPhone reports is stale: run `npm run docs`.');
    const rows = [...form.matchAll(/label: "?\*\*(\d+)\*\*/g)].map(([, number]) => Number(number));
    assert.ok(rows.length > 50);
    assertEach(
      rows,
      (number) => number,
      rows.map((_, index) => index + 1),
    );
  });

  it('section 11.9 of the specification has each keyword of each language', () => {
    const rows = [...section('11.9').matchAll(/^\| (\w+) \| ([^|]+) \|$/gm)].map(
      ([, language = '', words = '']) => [language, words.trim().split(', ')] as const,
    );
    assert.deepEqual(
      rows.filter(([language]) => language !== 'language'),
      Object.entries(optOutWords),
    );
    assert.ok(section('11.9').includes(`${optInWords.join(' and ')} opt in`));
  });

  it('section 8 of the specification has the limits of each plan (§8/plan-messages, §8/plan-numbers, §8/plan-requests, §8/plan-webhooks)', () => {
    const rows = section('8')
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').slice(1, -1));
    const cells = (name: string) => {
      const row = rows.find(([first]) => first?.trim().startsWith(name));
      return row?.slice(1).map((cell) => cell.replace('(shown as unlimited)', '').trim());
    };
    const shown = (limit: number | boolean) => {
      if (typeof limit === 'boolean') return limit ? 'yes' : 'no';
      return Number.isFinite(limit) ? limit.toLocaleString('en') : 'unlimited';
    };
    assert.deepEqual(
      rows[0]?.slice(1).map((cell) => cell.trim()),
      [...planNames],
    );
    const limits: Readonly<Record<string, (plan: Plan) => number | boolean>> = {
      'messages per month': (plan) => plan.monthlyMessages,
      numbers: (plan) => plan.numbers,
      media: (plan) => plan.standard,
      'requests per minute': (plan) => plan.requestsPerMinute,
      members: (plan) => plan.members,
      webhooks: (plan) => plan.webhooks,
    };
    for (const [name, limit] of Object.entries(limits)) {
      const expected = planNames.map((plan) => shown(limit(plans[plan])));
      assert.deepEqual(cells(name), expected, name);
    }
  });
});
