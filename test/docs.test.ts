import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { errorStatus } from '#contract/errors.ts';
import { failureCodes, messageStatuses } from '#contract/message.ts';
import { type Plan, planNames, plans } from '#contract/plans.ts';
import { messageSteps } from '#server/messages/message-status.ts';
import { repository } from '#test/support/service/spawned-service.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const specification = read('docs/specification.md');
/** The text of a section, up to the next heading. */
const section = (number: string) =>
  specification.split(/^##+ /m).find((part) => part.startsWith(`${number} `)) ?? '';

describe('the documents agree with the code', () => {
  it('every setting that is read is in docs/configuration.md, and no other', () => {
    const names = [
      ...read('server/platform/config.ts').matchAll(
        /(?:text|integer|oneOf|address|addressWithoutPath)\('([A-Z_]+)'/g,
      ),
    ].map((match) => match[1]);
    const rows = read('docs/configuration.md')
      .split('\n')
      .filter((line) => line.startsWith('| `') && !line.includes('planned'));
    const documented = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)].map((match) => match[1]),
    );
    assert.deepEqual(documented.sort(), [...new Set(names)].sort());
  });

  it('every error code with its status is in docs/errors.md', () => {
    const errors = read('docs/errors.md');
    for (const [code, status] of Object.entries(errorStatus)) {
      assert.match(errors, new RegExp(`^\\| *\`?${status}\`?[^|]*\\| *\`${code}\``, 'm'));
    }
  });

  it('every reason of failure and every step of the state table is in section 3', () => {
    for (const code of failureCodes) assert.ok(section('3.2').includes(`\`${code}\``), code);
    for (const status of messageStatuses) assert.ok(section('3.1').includes(status), status);
    for (const { from, to } of Object.values(messageSteps))
      assert.ok(section('3.1').includes(from) && section('3.1').includes(to));
  });

  it('the limits of every plan are those in the table of section 8', () => {
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
