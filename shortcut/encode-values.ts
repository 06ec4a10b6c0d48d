import type { PropertyDictionary } from './property-list/property-list.ts';
import type { Fields, Reference, ResultStep, Text } from './step.ts';
import { valuePlaceholder } from './workflow.ts';

/** Names that Shortcuts gives to the results of actions. */
export const resultNames: Readonly<Record<ResultStep['kind'], string>> = {
  text: 'Text',
  device_detail: 'Device Details',
  random_number: 'Random Number',
  contents_of_url: 'Contents of URL',
  dictionary: 'Dictionary',
  dictionary_value: 'Dictionary Value',
};

/** Finds the UUID of the action that makes a result. @throws Error if no earlier action makes it */
export type FindResult = (step: ResultStep) => string;

function encodeReference(reference: Reference, uuidOf: FindResult): PropertyDictionary {
  switch (reference.from) {
    case 'variable':
      return {
        Type: 'Variable',
        VariableName: reference.name,
        ...(reference.property === undefined ? {} : { Aggrandizements: fileExtension }),
      };
    case 'result':
      return {
        Type: 'ActionOutput',
        OutputUUID: uuidOf(reference.of),
        OutputName: resultNames[reference.of.kind],
      };
    case 'shortcut_input':
      return { Type: 'ExtensionInput' };
    case 'repeat_item':
      return {
        Type: 'Variable',
        VariableName: 'Repeat Item',
        Aggrandizements: [
          { Type: 'WFCoercionVariableAggrandizement', CoercionItemClass: 'WFMessageContentItem' },
          { Type: 'WFPropertyVariableAggrandizement', PropertyName: reference.property },
        ],
      };
  }
}

const fileExtension = [
  { Type: 'WFCoercionVariableAggrandizement', CoercionItemClass: 'WFGenericFileContentItem' },
  {
    Type: 'WFPropertyVariableAggrandizement',
    PropertyName: 'File Extension',
    PropertyUserInfo: 'WFFileExtensionProperty',
  },
];

export function encodeAttachment(reference: Reference, uuidOf: FindResult): PropertyDictionary {
  return { Value: encodeReference(reference, uuidOf), WFSerializationType: 'WFTextTokenAttachment' };
}

export function encodeTextAttachment(reference: Reference, uuidOf: FindResult): PropertyDictionary {
  const value = encodeReference(reference, uuidOf);
  return {
    Value: {
      ...value,
      Aggrandizements: [
        { Type: 'WFCoercionVariableAggrandizement', CoercionItemClass: 'WFStringContentItem' },
      ],
    },
    WFSerializationType: 'WFTextTokenAttachment',
  };
}

/**
 * Encodes a text with variables: a placeholder for each, and its position in UTF-16 code units. A text without
 * variables remains a string.
 */
export function encodeText(text: Text, uuidOf: FindResult): PropertyDictionary | string {
  if (text.every((part) => typeof part === 'string')) return text.join('');
  return encodeTokenString(text, uuidOf);
}

function encodeTokenString(text: Text, uuidOf: FindResult): PropertyDictionary {
  const attachmentsByRange: Record<string, PropertyDictionary> = {};
  let string = '';
  for (const part of text) {
    if (typeof part === 'string') {
      string += part;
      continue;
    }
    attachmentsByRange[`{${string.length}, 1}`] = encodeReference(part, uuidOf);
    string += valuePlaceholder;
  }
  const hasVariables = Object.keys(attachmentsByRange).length > 0;
  return {
    Value: { string, ...(hasVariables ? { attachmentsByRange } : {}) },
    WFSerializationType: 'WFTextTokenString',
  };
}

/** Encodes headers or a JSON body. WFItemType 0 means text, the only type that the shortcuts use. */
export function encodeFields(fields: Fields, uuidOf: FindResult): PropertyDictionary {
  return {
    Value: {
      WFDictionaryFieldValueItems: fields.map(([name, text]) => ({
        WFItemType: 0,
        WFKey: encodeTokenString([name], uuidOf),
        WFValue: encodeTokenString(text, uuidOf),
      })),
    },
    WFSerializationType: 'WFDictionaryFieldValue',
  };
}
