import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WorkflowError } from '#shortcut/interpreter/operation.ts';
import { readWorkflow } from '#shortcut/interpreter/read-workflow.ts';
import type { PropertyDictionary, PropertyList } from '#shortcut/property-list/property-list.ts';
import { buildWorkflow, inbound, outbox, type Shortcut } from '#shortcut/shortcuts.ts';
import { actionName } from '#test/support/shortcuts/workflow-reader.ts';

const connection = { server: 'https://texts.example.com', deviceToken: 'dev_example' };

describe('a workflow that no iPhone could run is a fault of the generator', () => {
  /** The shortcut Outbox with one action changed. */
  const changed = (name: string, change: (parameters: PropertyDictionary) => PropertyDictionary) => {
    const workflow = buildWorkflow(outbox, connection);
    const index = workflow.WFWorkflowActions.findIndex((action) => actionName(action) === name);
    assert.ok(index >= 0);
    return {
      ...workflow,
      WFWorkflowActions: workflow.WFWorkflowActions.map((action, position) =>
        position === index
          ? { ...action, WFWorkflowActionParameters: change(action.WFWorkflowActionParameters) }
          : action,
      ),
    };
  };
  const root = (shortcut: Shortcut, change: PropertyDictionary) => ({
    ...buildWorkflow(shortcut, connection),
    ...change,
  });
  const cases: readonly [string, PropertyList, RegExp][] = [
    ['an unknown parameter', changed('gettext', (own) => ({ ...own, WFText: '' })), /unknown key WFText/],
    ['a missing parameter', changed('getvalueforkey', ({ WFInput, ...own }) => own), /has no WFInput/],
    [
      'a parameter of a wrong type',
      changed('repeat.count', (own) => ({ ...own, WFRepeatCount: '5' })),
      /no whole number/,
    ],
    [
      'an unknown HTTP method',
      changed('downloadurl', (own) => ({ ...own, WFHTTPMethod: 'post' })),
      /unknown WFHTTP/,
    ],
    ['an unknown condition', changed('conditional', (own) => ({ ...own, WFCondition: 98 })), /condition 98/],
    [
      'Show When Run switched on',
      changed('sendmessage', (own) => ({ ...own, ShowWhenRun: true })),
      /ShowWhenRun true/,
    ],
    [
      'a group that is not closed',
      changed('repeat.count', (own) => ({ ...own, GroupingIdentifier: 'X' })),
      /GroupingIdentifier/,
    ],
    [
      'a result that no action makes',
      changed('setvariable', () => ({
        WFVariableName: 'Server',
        WFInput: {
          Value: { Type: 'ActionOutput', OutputUUID: 'X', OutputName: 'Text' },
          WFSerializationType: 'WFTextTokenAttachment',
        },
      })),
      /result of no action/,
    ],
    [
      'a range that is off by one',
      changed('downloadurl', (own) => ({
        ...own,
        WFURL: {
          Value: {
            string: 'a\ufffc',
            attachmentsByRange: { '{0, 1}': { Type: 'Variable', VariableName: 'Server' } },
          },
          WFSerializationType: 'WFTextTokenString',
        },
      })),
      /has no \{1, 1\}/,
    ],
    ['import questions without answers', buildWorkflow(outbox), /before its import questions were answered/],
    ['an unknown root key', root(outbox, { WFWorkflowName: 'x' }), /unknown key WFWorkflowName/],
    [
      'a shortcut that no locked iPhone runs',
      root(outbox, { WFWorkflowIsDisabledOnLockScreen: true }),
      /WFWorkflowIsDisabledOnLockScreen true/,
    ],
    [
      'a minimum version that no iPhone has',
      root(outbox, { WFWorkflowMinimumClientVersion: 9999 }),
      /WFWorkflowMinimumClientVersion 9999/,
    ],
    ['a type of the share sheet', root(outbox, { WFWorkflowTypes: ['ActionExtension'] }), /WFWorkflowTypes/],
    [
      'an unknown class of input',
      root(outbox, { WFWorkflowInputContentItemClasses: ['WFTextContentItem'] }),
      /input class "WFTextContentItem" is unknown/,
    ],
    [
      'input of messages without their class',
      root(inbound, { WFWorkflowInputContentItemClasses: ['WFStringContentItem'] }),
      /does not name their class/,
    ],
    [
      'input that it says not to read',
      root(inbound, { WFWorkflowHasShortcutInputVariables: false }),
      /HasShortcutInputVariables false/,
    ],
    [
      'a property of no class',
      changed('setvariable', () => ({
        WFVariableName: 'From',
        WFInput: {
          Value: {
            Type: 'Variable',
            VariableName: 'Repeat Item',
            Aggrandizements: [{ Type: 'WFPropertyVariableAggrandizement', PropertyName: 'Sender' }],
          },
          WFSerializationType: 'WFTextTokenAttachment',
        },
      })),
      /reads Sender without the class that has it/,
    ],
    [
      'an unknown action',
      {
        ...buildWorkflow(outbox, connection),
        WFWorkflowActions: [
          { WFWorkflowActionIdentifier: 'is.workflow.actions.gettxt', WFWorkflowActionParameters: {} },
        ],
      },
      /unknown type gettxt/,
    ],
  ];
  for (const [title, workflow, problem] of cases) {
    it(`the interpreter refuses a workflow with ${title}`, () => {
      assert.throws(
        () => readWorkflow(workflow),
        (error) => error instanceof WorkflowError && problem.test(error.message),
      );
    });
  }
});
