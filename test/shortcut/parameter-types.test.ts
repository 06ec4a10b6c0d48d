import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isPropertyArray,
  isPropertyDictionary,
  type PropertyDictionary,
  type PropertyList,
} from '#shortcut/property-list/property-list.ts';
import { buildWorkflow, shortcuts } from '#shortcut/shortcuts.ts';
import { actionName, dictionariesIn } from '#test/support/shortcuts/workflow-reader.ts';

const connection = { server: 'https://texts.example.com', deviceToken: 'dev_example' };

const text = ['string', 'WFTextTokenString'];
const variable = ['WFTextTokenAttachment'];
const fields = ['WFDictionaryFieldValue'];
const group = { GroupingIdentifier: ['string'], WFControlFlowMode: ['integer'], UUID: ['string'] };

/**
 * Types of parameters in files that Shortcuts itself has exported, and for the second group in its database of tools of
 * iOS 27. Both are in github.com/viticci/shortcuts-playground-plugin. Exports of others show how a recipient and a
 * variable number of seconds are written.
 */
const parameters: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  comment: { WFCommentActionText: ['string'] },
  conditional: {
    ...group,
    WFCondition: ['integer'],
    WFConditionalActionString: text,
    WFInput: ['Type, Variable'],
  },
  'detect.dictionary': { UUID: ['string'], WFInput: variable },
  downloadurl: {
    ShowHeaders: ['boolean'],
    UUID: ['string'],
    WFHTTPBodyType: ['string'],
    WFHTTPHeaders: fields,
    WFHTTPMethod: ['string'],
    WFJSONValues: fields,
    WFURL: text,
  },
  gettext: { UUID: ['string'], WFTextActionText: text },
  getvalueforkey: {
    UUID: ['string'],
    WFDictionaryKey: text,
    WFGetDictionaryValueType: ['string'],
    WFInput: variable,
  },
  'repeat.count': { ...group, WFRepeatCount: ['integer', ...variable] },
  'repeat.each': { ...group, WFInput: variable },
  setvariable: { WFInput: variable, WFVariableName: ['string'] },

  delay: { WFDelayTime: ['integer', ...variable] },
  exit: {},
  getdevicedetails: { UUID: ['string'], WFDeviceDetail: ['string'] },
  nothing: {},
  'number.random': {
    UUID: ['string'],
    WFRandomNumberMaximum: ['integer'],
    WFRandomNumberMinimum: ['integer'],
  },
  sendmessage: {
    IntentAppDefinition: ['BundleIdentifier, Name, TeamIdentifier'],
    ShowWhenRun: ['boolean'],
    UUID: ['string'],
    WFSendMessageActionRecipients: variable,
    WFSendMessageContent: text,
  },
};

/** Keys of the dictionaries inside parameters, by their Type. Those of a text, its fields and values have no Type. */
const keys: Readonly<Record<string, string>> = {
  ActionOutput: 'OutputName, OutputUUID, Type',
  ExtensionInput: 'Type',
  Variable: 'Type, VariableName',
  WFCoercionVariableAggrandizement: 'CoercionItemClass, Type',
  WFPropertyVariableAggrandizement: 'PropertyName, Type',
};
const otherKeys = [
  'Value, WFSerializationType',
  'BundleIdentifier, Name, TeamIdentifier',
  'string',
  'attachmentsByRange, string',
  'WFDictionaryFieldValueItems',
  'WFItemType, WFKey, WFValue',
];

/** Parameters of triggers in files for iOS 27 that other projects have made on iPhones and Macs. */
const triggerParameters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  WFMessageTrigger: { WFMessageConditions: 'WFContentPredicateTableTemplate' },
  WFPlugInTrigger: { WFConnectionType: 'string' },
  WFTimeOfDayTrigger: { WFTime: 'date', WFTimeEvent: 'string' },
  WFWifiTrigger: {},
};
const runSettings = { __enabled__: 'boolean', __notify__: 'boolean', __show_confirmation__: 'boolean' };

function typeOf(value: PropertyList): string {
  if (value instanceof Date) return 'date';
  if (typeof value === 'number') return 'integer';
  if (isPropertyArray(value)) return 'array';
  if (!isPropertyDictionary(value)) return typeof value;
  const { WFSerializationType: type } = value;
  return typeof type === 'string' ? type : keysOf(value);
}

const keysOf = (value: PropertyDictionary) => Object.keys(value).sort().join(', ');
const typesOf = (value: PropertyDictionary) =>
  Object.fromEntries(Object.entries(value).map(([key, item]) => [key, typeOf(item)]));

const isRanges = (value: PropertyDictionary) => Object.keys(value).every((key) => /^\{\d+, 1\}$/.test(key));

for (const shortcut of shortcuts) {
  describe(`parameters in the file of ${shortcut.name}, compared with files of Shortcuts (specification section 11.11)`, () => {
    const workflow = buildWorkflow(shortcut, connection, 27);

    it('each parameter of an action has a type that the Shortcuts app writes for it', () => {
      for (const action of workflow.WFWorkflowActions) {
        const name = actionName(action);
        const known = parameters[name];
        assert.ok(known, name);
        for (const [key, type] of Object.entries(typesOf(action.WFWorkflowActionParameters)))
          assert.ok(known[key]?.includes(type), `${name} has ${key} as ${type}`);
      }
    });

    it('each text and variable inside a parameter has the keys that the Shortcuts app writes', () => {
      const values = workflow.WFWorkflowActions.flatMap(({ WFWorkflowActionParameters: own }) =>
        Object.values(own).flatMap(dictionariesIn),
      );
      for (const { Aggrandizements, PropertyUserInfo, ...value } of values) {
        const { Type: type } = value;
        const known = typeof type === 'string' ? [keys[type], 'Type, Variable'] : otherKeys;
        assert.ok(known.includes(keysOf(value)) || isRanges(value), JSON.stringify(value));
      }
    });

    it('each trigger has the parameters of triggers that iPhones have imported', () => {
      const triggers = workflow.WFWorkflowTriggers as readonly PropertyDictionary[];
      for (const { WFTriggerIdentifier: kind, WFTriggerSerializedParameters: own } of triggers)
        assert.deepEqual(typesOf(own as PropertyDictionary), {
          ...runSettings,
          ...triggerParameters[String(kind)],
        });
    });
  });
}
