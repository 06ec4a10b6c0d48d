import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BuildAction, buildList } from '#shortcut/build-list.ts';
import { buildWorkflow, outbox, shortcuts } from '#shortcut/shortcuts.ts';
import type { WorkflowAction } from '#shortcut/workflow.ts';
import { assertEach, assertNone } from '#test/support/service/assert-each.ts';
import { followBuildList } from '#test/support/shortcuts/follow-build-list.ts';
import { actionName } from '#test/support/shortcuts/workflow-reader.ts';

const connection = { server: 'https://texts.example.com', deviceToken: 'dev_example' };

const listOf = (shortcut: typeof outbox) => buildList(shortcut.steps(connection));

const flat = (actions: readonly BuildAction[]): BuildAction[] =>
  actions.flatMap((action) => [action, ...flat(action.inside ?? []), ...flat(action.otherwise ?? [])]);

/** Numbers UUIDs by first appearance and removes comments, so that two equal builds are equal. */
function comparable(actions: readonly WorkflowAction[]): unknown {
  const uuids: string[] = [];
  const built = actions.filter((action) => actionName(action) !== 'comment');
  const text = JSON.stringify(built).replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, (uuid) => {
    if (!uuids.includes(uuid)) uuids.push(uuid);
    return `uuid ${uuids.indexOf(uuid)}`;
  });
  return JSON.parse(text);
}

describe('the list to build by hand (specification section 11.11)', () => {
  for (const shortcut of shortcuts) {
    it(`${shortcut.name}: following the list to build by hand gives the actions of the file`, () => {
      const built = followBuildList(listOf(shortcut));
      const file = buildWorkflow(shortcut, connection).WFWorkflowActions;
      assert.deepEqual(comparable(built), comparable(file));
    });
  }

  it('the list to build by hand numbers actions from 1 on across all levels, and refers to results by these numbers', () => {
    const all = flat(listOf(outbox));
    assertEach(
      all,
      ({ number }) => number,
      all.map((_, index) => index + 1),
    );
    const named = /of action (\d+)/;
    for (const { number, fields } of all)
      for (const { value } of fields)
        for (const part of value) {
          const of = typeof part === 'string' ? undefined : named.exec(part.variable)?.[1];
          if (of !== undefined) assert.ok(Number(of) < number);
        }
  });

  it("no value to type has a quotation mark, apostrophe or dash, because an iPhone's keyboard replaces these", () => {
    const typed = shortcuts.flatMap((shortcut) =>
      flat(listOf(shortcut)).flatMap(({ fields }) =>
        fields.flatMap(({ value }) => value.filter((part) => typeof part === 'string')),
      ),
    );
    assert.ok(typed.includes('ses_') && typed.includes('{'));
    assertNone(typed, (text) => /["'“”‘’–—]|--|\.\.\./.test(text));
  });
});
