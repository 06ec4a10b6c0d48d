import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseBuffer } from 'bplist-parser';
import fc from 'fast-check';
import { parse } from 'plist';
import { compileActions } from '#shortcut/compile-workflow.ts';
import { importShortcut } from '#shortcut/interpreter/import-shortcut.ts';
import { ParameterReader } from '#shortcut/interpreter/parameter-reader.ts';
import { readTriggers } from '#shortcut/interpreter/read-triggers.ts';
import { readWorkflow } from '#shortcut/interpreter/read-workflow.ts';
import type { PropertyDictionary, PropertyList } from '#shortcut/property-list/property-list.ts';
import { writeBinaryPropertyList } from '#shortcut/property-list/write-binary.ts';
import { writeXmlPropertyList } from '#shortcut/property-list/write-xml.ts';
import { buildWorkflow, inbound, outbox, shortcuts } from '#shortcut/shortcuts.ts';
import { dictionary, resultOf, setVariable, text, variable } from '#shortcut/step.ts';
import type { Workflow, WorkflowAction } from '#shortcut/workflow.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import {
  actionName,
  dictionariesIn,
  parametersOf,
  textParameter,
  tokenStringsIn,
} from '#test/support/shortcuts/workflow-reader.ts';

const connection = { server: 'https://texts.example.com', deviceToken: 'dev_a&b<c>"d"👋é' };

const variants = shortcuts.flatMap((shortcut) =>
  [
    { title: `${shortcut.name} with questions`, build: () => buildWorkflow(shortcut) },
    { title: `${shortcut.name} with its connection`, build: () => buildWorkflow(shortcut, connection) },
    { title: `${shortcut.name} for iOS 27`, build: () => buildWorkflow(shortcut, undefined, 27) },
  ].map((variant) => ({ ...variant, shortcut, workflow: variant.build() })),
);

/** Removes the prototypes of parsed dictionaries, so that only their content is compared. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

for (const { title, build, shortcut, workflow } of variants) {
  const actions = workflow.WFWorkflowActions;

  describe(`the file of ${title} (specification section 11.11)`, () => {
    it('the XML and binary files contain the same object, as other parsers read them', () => {
      const xml = plain(parse(writeXmlPropertyList(workflow)));
      const [binary] = parseBuffer(writeBinaryPropertyList(workflow));
      assert.deepEqual(xml, plain(workflow));
      assert.deepEqual(plain(binary), plain(workflow));
    });

    it('repeated builds of a file give the same bytes', () => {
      const again = build();
      assert.equal(writeXmlPropertyList(again), writeXmlPropertyList(workflow));
      assert.ok(writeBinaryPropertyList(again).equals(writeBinaryPropertyList(workflow)));
    });

    it('the interpreter, which has its own copy of each Shortcuts constant, reads the file', () => {
      const answers = workflow.WFWorkflowImportQuestions.map(() => 'the setup code');
      assert.ok(readWorkflow(importShortcut(workflow, answers)).operations.length > 5);
    });

    it('each result and group has its own UUID of version 5 in upper case, and each variable is set before its use', () => {
      const uuids = new Set<unknown>();
      const variables = new Set<unknown>(shortcut === inbound ? ['Repeat Item'] : []);
      for (const parameters of actions.map(parametersOf)) {
        for (const { Type, VariableName } of dictionariesIn(parameters))
          assert.ok(
            Type !== 'Variable' || !VariableName || variables.has(VariableName),
            String(VariableName),
          );
        const { UUID, GroupingIdentifier, WFControlFlowMode: mode = 0, WFVariableName } = parameters;
        for (const uuid of [UUID, mode === 0 ? GroupingIdentifier : undefined].filter(Boolean)) {
          assert.match(String(uuid), /^[0-9A-F]{8}-[0-9A-F]{4}-5[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$/);
          assert.ok(!uuids.has(uuid), 'a UUID is used twice');
          uuids.add(uuid);
        }
        variables.add(WFVariableName);
      }
      assert.ok(uuids.size > 10);
    });

    it('only Ownline Inbound reads the message that triggered it', () => {
      const reads = dictionariesIn(workflow).some(({ Type }) => Type === 'ExtensionInput');
      assert.equal(reads, shortcut === inbound);
      assert.equal(workflow.WFWorkflowHasShortcutInputVariables, reads);
    });
  });
}

describe('the automations in files for iOS 27 (specification section 11.11)', () => {
  const triggersOf = (shortcut: (typeof shortcuts)[number]) => {
    const { WFWorkflowTriggers: items } = buildWorkflow(shortcut, undefined, 27);
    return readTriggers(new ParameterReader('the file', { items: items ?? [] }, new Set()).items('items'));
  };

  it('Inbound is triggered by a text with one of ten characters, and Outbox by the charger, Wi-Fi, and every six hours in each time zone', () => {
    assert.deepEqual(
      triggersOf(inbound),
      [' ', 'e', 'o', 'a', 'i', 'u', 'y', 'c', '1', '2'].map((contains) => ({ kind: 'message', contains })),
    );
    const [plugIn, wifi, ...times] = triggersOf(outbox);
    assert.deepEqual([plugIn, wifi], [{ kind: 'charger' }, { kind: 'wifi' }]);
    const hours = times.map((trigger) => trigger.kind === 'time' && trigger.at.getUTCHours());
    assert.deepEqual(hours, [0, 6, 12, 18]);
  });

  it('the interpreter refuses an unknown trigger, and a trigger that asks before it runs', () => {
    const [first] = buildWorkflow(inbound, connection, 27)
      .WFWorkflowTriggers as readonly PropertyDictionary[];
    const parameters = first?.WFTriggerSerializedParameters as PropertyDictionary;
    const asking = { ...parameters, __show_confirmation__: true };
    for (const [changed, problem] of [
      [{ ...first, WFTriggerIdentifier: 'WFMailTrigger' }, /the trigger WFMailTrigger is unknown/],
      [{ ...first, WFTriggerSerializedParameters: asking }, /__show_confirmation__ true, not false/],
    ] as const)
      assert.throws(
        () => readWorkflow({ ...buildWorkflow(inbound, connection), WFWorkflowTriggers: [changed] }),
        problem,
      );
  });

  it('a file for iOS 17 to 26 differs only by its missing automations', () => {
    for (const shortcut of shortcuts) {
      const { WFWorkflowTriggers: triggers, ...others } = buildWorkflow(shortcut, connection, 27);
      assert.ok(triggers);
      assert.deepEqual(others, buildWorkflow(shortcut, connection, 26));
    }
  });
});

describe('address and token in the file (specification section 11.11)', () => {
  it('a shortcut without address and token asks for the setup code when it is imported, and stores it in its first action', () => {
    for (const shortcut of shortcuts) {
      const workflow = buildWorkflow(shortcut);
      const questions = workflow.WFWorkflowImportQuestions;
      assertEach(
        questions,
        ({ ActionIndex, Category, ParameterKey, DefaultValue }) => [
          ActionIndex,
          Category,
          ParameterKey,
          DefaultValue,
        ],
        [[0, 'Parameter', 'WFTextActionText', '']],
      );
      assert.equal(actionName(workflow.WFWorkflowActions[0] as WorkflowAction), 'gettext');
      assert.equal(textParameter(workflow, 0, 'WFTextActionText'), '');
      assert.match(String(questions[0]?.Text), /[Ss]etup code/);
    }
  });

  it('a file with address and token asks no question and contains both, whatever characters they have (§11.11/embedded)', () => {
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

  it('a file without address and token contains neither', () => {
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
    assert.equal(tokenString?.string, '👋 \ufffc and 👩‍👧 \ufffc');
    assert.deepEqual(Object.keys(tokenString?.attachmentsByRange ?? {}), ['{3, 1}', '{15, 1}']);
  });

  it('compiling fails if an action uses a result that no earlier action makes', () => {
    const later = text('later');
    assert.throws(
      () => compileActions('test', [dictionary(resultOf(later)), later]),
      /no action before this one/,
    );
  });
});

/** Removes the prototypes of parsed dictionaries, so that only their content is compared. */
const readXml = (value: PropertyList) => plain(parse(writeXmlPropertyList(value)));
const readBinary = (value: PropertyList) => plain(parseBuffer(writeBinaryPropertyList(value))[0]);

describe('property lists, read by third-party libraries (specification section 11.11)', () => {
  const hard: readonly PropertyList[] = [
    '',
    ' ',
    '&<>"\'',
    '&amp;&#13;]]>',
    'Grüße 👩‍👩‍👧 \u202e\u0301 \ufffc',
    'two\nlines\tand a tab',
    'a carriage return\r\nand one more\r',
    'x'.repeat(14),
    'x'.repeat(15),
    'é'.repeat(70_000),
    0,
    1,
    255,
    256,
    65_535,
    65_536,
    2 ** 31,
    4_292_093_695,
    2 ** 32,
    Number.MAX_SAFE_INTEGER,
    -1,
    true,
    false,
    [],
    {},
    [[], {}, [true, [false, 0, '']]],
    { 'a & b': { '<c>': [] }, '': '' },
    Array.from({ length: 300 }, (_, n) => `item ${n}`),
  ];
  for (const [name, read] of [
    ['XML', readXml],
    ['binary', readBinary],
  ] as const) {
    it(`${name}: texts, numbers and nested values are read back unchanged`, () => {
      for (const value of hard) assert.deepEqual(read({ value }), { value });
    });

    it(`${name}: any value of a shortcut is read back unchanged`, () => {
      const text = fc.string({ unit: fc.constantFrom('a', '&', '<', '"', 'é', '\ufffc', '👋', '\u0301') });
      const key = text.filter((word) => word !== '__proto__');
      const { value } = fc.letrec<{ value: PropertyList }>((tie) => ({
        value: fc.oneof(
          { maxDepth: 4 },
          text,
          fc.integer({ min: 0 }),
          fc.boolean(),
          fc.array(tie('value'), { maxLength: 20 }),
          fc.dictionary(key, tie('value'), { maxKeys: 20, noNullPrototype: true }),
        ),
      }));
      fc.assert(fc.property(value, (drawn) => assert.deepEqual(read({ drawn }), { drawn })));
    });
  }

  it('a property list refuses fractions, and characters that XML does not allow', () => {
    assert.throws(() => writeXmlPropertyList(1.5), RangeError);
    assert.throws(() => writeBinaryPropertyList([Number.NaN]), RangeError);
    for (const text of ['\u0000', 'a\u0008', '\uffff', '\ud83d'])
      assert.throws(() => writeXmlPropertyList({ text }), /XML cannot hold U\+/);
  });
});
