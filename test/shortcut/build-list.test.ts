import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BuildAction, buildList, renderBuildList } from '#shortcut/build-list.ts';
import { buildWorkflow, inbound, outbox, shortcuts } from '#shortcut/shortcuts.ts';
import { comparableActions } from '#test/support/shortcuts/comparable-actions.ts';
import { followBuildList } from '#test/support/shortcuts/follow-build-list.ts';

const connection = { server: 'https://texts.example.com', deviceToken: 'dev_example' };

const listOf = (shortcut: typeof outbox) => buildList(shortcut.steps(connection));

const flat = (actions: readonly BuildAction[]): BuildAction[] =>
  actions.flatMap((action) => [action, ...flat(action.inside ?? []), ...flat(action.otherwise ?? [])]);

describe('the list to build by hand (specification section 11.11)', () => {
  for (const shortcut of shortcuts) {
    it(`${shortcut.name}: the list to build by hand gives the actions of the file (§11.11/build-by-hand)`, () => {
      const built = followBuildList(renderBuildList(listOf(shortcut)));
      const file = buildWorkflow(shortcut, connection).WFWorkflowActions;
      assert.deepEqual(comparableActions(built), comparableActions(file));
    });
  }

  it('the list to build by hand numbers actions from 1 through all levels, and refers to results by these numbers', () => {
    const all = flat(listOf(outbox));
    assert.deepEqual(
      all.map(({ number }) => number),
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

  it("no value to type has a quotation mark, an apostrophe or a dash, which an iPhone's keyboard replaces", () => {
    const typed = shortcuts.flatMap((shortcut) =>
      flat(listOf(shortcut)).flatMap(({ fields }) =>
        fields.flatMap(({ value }) => value.filter((part) => typeof part === 'string')),
      ),
    );
    assert.ok(typed.includes('ses_') && typed.includes('{'));
    assert.deepEqual(
      typed.filter((text) => /["'“”‘’–—]|--|\.\.\./.test(text)),
      [],
    );
  });

  it('the list to build by hand is rendered as numbered and indented text', () => {
    assert.equal(
      renderBuildList(listOf(inbound)),
      `1. Text
   Text: https://texts.example.com
2. Text
   Text: dev_example
3. Set Variable
   Variable Name: Server
   Input: [Text of action 1]
4. Set Variable
   Variable Name: Token
   Input: [Text of action 2]
5. Random Number
   Minimum: 1
   Maximum: 1000000
6. Set Variable
   Variable Name: Run
   Input: [Random Number of the action before]
7. Text
   Text: /unauthorized/deleted/superseded/unreadable/too_large/
8. Set Variable
   Variable Name: Refusals
   Input: [Text of the action before]
9. Repeat
   Times: 12
   10. Get Contents of URL
      URL: [Server]/v1/device/inbound
      Method: POST
      Header x-device-token: [Token]
      Request Body: JSON
      JSON Text from: [Shortcut Input › Sender]
      JSON Text text: [Shortcut Input › Content]
      JSON Text recipients: [Shortcut Input › Recipients]
      JSON Text run: [Run]
      JSON Text v: 1
   11. Text
      Text: [Contents of URL of the action before]
   12. Set Variable
      Variable Name: Raw
      Input: [Text of the action before]
   13. If
      Input: [Raw]
      Condition: begins with
      Text: {
      14. Get Dictionary from Input
         Input: [Contents of URL of action 10]
      15. Set Variable
         Variable Name: Answer
         Input: [Dictionary of the action before]
      16. Get Dictionary Value
         Key: id
         Dictionary: [Answer]
      17. Text
         Text: [Dictionary Value of the action before]
      18. Set Variable
         Variable Name: Stored
         Input: [Text of the action before]
      19. If
         Input: [Stored]
         Condition: begins with
         Text: msg_
         20. Stop This Shortcut
      End If
      21. Get Dictionary Value
         Key: reason
         Dictionary: [Answer]
      22. Text
         Text: /[Dictionary Value of the action before]/
      23. Set Variable
         Variable Name: Refusal
         Input: [Text of the action before]
      24. If
         Input: [Refusals]
         Condition: contains
         Text: [Refusal]
         25. Stop This Shortcut
      End If
   End If
   26. Wait
      Seconds: 15
   27. Nothing
End Repeat`,
    );
  });
});
