import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseBuffer } from 'bplist-parser';
import { parse } from 'plist';
import { compileActions } from '#shortcut/compile-workflow.ts';
import { writeBinaryPropertyList } from '#shortcut/property-list/write-binary.ts';
import { writeXmlPropertyList } from '#shortcut/property-list/write-xml.ts';
import { buildWorkflow, inbound, outbox, shortcuts } from '#shortcut/shortcuts.ts';
import { dictionary, resultOf, setVariable, text, variable } from '#shortcut/step.ts';
import type { Workflow, WorkflowAction } from '#shortcut/workflow.ts';
import {
  actionName,
  dictionariesIn,
  parametersOf,
  textParameter,
  tokenStringsIn,
} from '#test/support/shortcuts/workflow-reader.ts';

const connection = { server: 'https://texts.example.com', deviceToken: 'dev_a&b<c>"d"👋é' };

const variants = shortcuts.flatMap((shortcut) => [
  { title: `${shortcut.name} with questions`, shortcut, workflow: buildWorkflow(shortcut) },
  { title: `${shortcut.name} with its connection`, shortcut, workflow: buildWorkflow(shortcut, connection) },
]);

/** Removes the prototypes of parsed dictionaries, so that only their content is compared. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

for (const { title, shortcut, workflow } of variants) {
  const actions = workflow.WFWorkflowActions;

  describe(`the file of ${title} (specification section 11.11)`, () => {
    it('XML and binary files contain the same object for other parsers (§11.11/encodings)', () => {
      const xml = plain(parse(writeXmlPropertyList(workflow)));
      const [binary] = parseBuffer(writeBinaryPropertyList(workflow));
      assert.deepEqual(xml, workflow);
      assert.deepEqual(plain(binary), workflow);
    });

    it('repeated builds of a file give the same bytes (§11.11/deterministic)', () => {
      const again = buildWorkflow(
        shortcut,
        workflow.WFWorkflowImportQuestions.length > 0 ? undefined : connection,
      );
      assert.equal(writeXmlPropertyList(again), writeXmlPropertyList(workflow));
      assert.ok(writeBinaryPropertyList(again).equals(writeBinaryPropertyList(workflow)));
    });

    it('If and Repeat nest, and each is closed by the end of its group, with at most one Otherwise', () => {
      const open: { group: string; kind: string; otherwise: boolean }[] = [];
      const groups = new Set<string>();
      for (const action of actions) {
        const { GroupingIdentifier: group, WFControlFlowMode: mode } = parametersOf(action);
        if (group === undefined) continue;
        const kind = actionName(action);
        if (mode === 0) {
          assert.ok(!groups.has(String(group)), 'a group is used twice');
          groups.add(String(group));
          open.push({ group: String(group), kind, otherwise: false });
          continue;
        }
        const innermost = open.at(-1);
        assert.deepEqual([innermost?.group, innermost?.kind], [group, kind]);
        if (mode === 1) {
          assert.ok(innermost && kind === 'conditional' && !innermost.otherwise);
          innermost.otherwise = true;
        } else {
          assert.equal(mode, 2);
          open.pop();
        }
      }
      assert.deepEqual(open, []);
      assert.ok(groups.size > 1);
    });

    it('each reference names a result or variable that an earlier action makes', () => {
      const results = new Map<string, string>();
      const variables = new Set<string>();
      let references = 0;
      for (const action of actions) {
        for (const { Type, OutputUUID, VariableName, OutputName } of dictionariesIn(parametersOf(action))) {
          if (Type === 'ActionOutput') {
            references += 1;
            assert.equal(results.get(String(OutputUUID)), OutputName);
          }
          if (Type === 'Variable' && VariableName !== undefined) {
            references += 1;
            assert.ok(variables.has(String(VariableName)), `${VariableName} is not set before its use`);
          }
        }
        const { UUID, WFVariableName } = parametersOf(action);
        if (UUID !== undefined) {
          assert.ok(!results.has(String(UUID)), 'a UUID is used twice');
          results.set(String(UUID), outputNames[actionName(action)] ?? '');
        }
        if (WFVariableName !== undefined) variables.add(String(WFVariableName));
      }
      assert.ok(references > 5);
    });

    it('each value inside a text is at its placeholder, counted in UTF-16 code units (§11.11/encodings)', () => {
      const texts = tokenStringsIn(workflow);
      assert.ok(texts.length > 5);
      for (const { string, attachmentsByRange = {} } of texts) assertRanges(string, attachmentsByRange);
    });

    it('each UUID has version 5 and upper case', () => {
      const uuids = dictionariesIn(workflow).flatMap(({ UUID, GroupingIdentifier, OutputUUID }) =>
        [UUID, GroupingIdentifier, OutputUUID].filter((uuid) => uuid !== undefined),
      );
      assert.ok(uuids.length > 10);
      for (const uuid of uuids)
        assert.match(String(uuid), /^[0-9A-F]{8}-[0-9A-F]{4}-5[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$/);
    });

    it('only Ownline Inbound reads the message that started it', () => {
      const reads = dictionariesIn(workflow).some(({ Type }) => Type === 'ExtensionInput');
      assert.equal(reads, shortcut === inbound);
      assert.equal(workflow.WFWorkflowHasShortcutInputVariables, reads);
    });
  });
}

describe('address and token in the file (specification section 11.11)', () => {
  it('a shortcut without address and token asks for the setup code when it is imported, and stores it in its first action (§11.11/import-questions)', () => {
    for (const shortcut of shortcuts) {
      const workflow = buildWorkflow(shortcut);
      const questions = workflow.WFWorkflowImportQuestions;
      assert.deepEqual(
        questions.map(({ ActionIndex, Category, ParameterKey, DefaultValue }) => [
          ActionIndex,
          Category,
          ParameterKey,
          DefaultValue,
        ]),
        [[0, 'Parameter', 'WFTextActionText', '']],
      );
      assert.equal(actionName(workflow.WFWorkflowActions[0] as WorkflowAction), 'gettext');
      assert.equal(textParameter(workflow, 0, 'WFTextActionText'), '');
      assert.match(String(questions[0]?.Text), /[Ss]etup code/);
    }
  });

  it('a file with a connection asks nothing and contains address and token, whatever their characters (§11.11/embedded)', () => {
    for (const shortcut of shortcuts) {
      const built = buildWorkflow(shortcut, connection);
      for (const read of [
        parse(writeXmlPropertyList(built)) as unknown as Workflow,
        parseBuffer<Workflow>(writeBinaryPropertyList(built))[0],
      ]) {
        assert.deepEqual(read.WFWorkflowImportQuestions, []);
        assert.equal(textParameter(read, 0, 'WFTextActionText'), connection.server);
        assert.equal(textParameter(read, 1, 'WFTextActionText'), connection.deviceToken);
      }
    }
  });

  it('a file without a connection contains no token and no address', () => {
    for (const shortcut of shortcuts) {
      const xml = writeXmlPropertyList(buildWorkflow(shortcut));
      assert.ok(!/dev_|example\.com|https?:\/\/(?!www\.apple\.com)/.test(xml));
    }
  });

  it('the file has versions and types that iOS 17 and newer accept', () => {
    const workflow = buildWorkflow(outbox);
    assert.equal(workflow.WFWorkflowClientVersion, '3612.0.2.1');
    assert.equal(workflow.WFWorkflowMinimumClientVersion, 900);
    assert.equal(workflow.WFWorkflowMinimumClientVersionString, '900');
    const sends = workflow.WFWorkflowActions.filter((action) => actionName(action) === 'sendmessage');
    assert.equal(sends.length, 2);
    // With Show When Run on, iOS asks a person to tap Send.
    for (const send of sends) assert.equal(parametersOf(send).ShowWhenRun, false);
  });
});

describe('compiling the described actions of a shortcut', () => {
  it("an emoji before a variable moves the variable's position by two", () => {
    const who = text('Ann');
    const [, , greeting] = compileActions('test', [
      who,
      setVariable('Who', resultOf(who)),
      text('👋 ', variable('Who'), ' and 👩‍👧 ', resultOf(who)),
    ]);
    assert.ok(greeting);
    const [tokenString] = tokenStringsIn(parametersOf(greeting));
    assert.ok(tokenString);
    assert.equal(tokenString.string, '👋 \ufffc and 👩‍👧 \ufffc');
    assert.deepEqual(Object.keys(tokenString.attachmentsByRange ?? {}), ['{3, 1}', '{15, 1}']);
    assertRanges(tokenString.string, tokenString.attachmentsByRange ?? {});
  });

  it('compiling refuses a result that no earlier action makes', () => {
    const later = text('later');
    assert.throws(
      () => compileActions('test', [dictionary(resultOf(later)), later]),
      /no action before this one/,
    );
  });
});

/** Names that Shortcuts gives to the results of actions. */
const outputNames: Readonly<Record<string, string>> = {
  gettext: 'Text',
  getdevicedetails: 'Device Details',
  'number.random': 'Random Number',
  downloadurl: 'Contents of URL',
  'detect.dictionary': 'Dictionary',
  getvalueforkey: 'Dictionary Value',
};

/** Checks that each placeholder character has one range, and each range one placeholder. */
function assertRanges(string: string, ranges: object): void {
  const positions = Object.keys(ranges).map((range) => {
    const position = /^\{(\d+), 1\}$/.exec(range)?.[1];
    assert.ok(position !== undefined, range);
    return Number(position);
  });
  const placeholders = [...string.matchAll(/\ufffc/g)].map((match) => match.index);
  assert.deepEqual(
    positions.sort((a, b) => a - b),
    placeholders,
  );
}
