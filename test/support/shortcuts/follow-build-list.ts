import { randomUUID } from 'node:crypto';
import type { BuildAction, BuildText } from '#shortcut/build-list.ts';
import type { PropertyDictionary } from '#shortcut/property-list/property-list.ts';
import type { WorkflowAction } from '#shortcut/workflow.ts';

/** One action of the list as a reader sees it. */
interface Line {
  readonly number: number;
  readonly action: string;
  readonly fields: ReadonlyMap<string, string>;
  /** UUID that the editor of the app Shortcuts gives to the action. */
  readonly uuid: string;
}

/** Builds the actions that a person makes from the list. It shares no code with the generator of the files. */
export function followBuildList(list: readonly BuildAction[], made: Line[] = []): WorkflowAction[] {
  return list.flatMap((described) => {
    const fields = described.fields.map(({ label, value }) => [label, asWritten(value)] as const);
    const line = { ...described, fields: new Map(fields), uuid: randomUUID() };
    const built = build(line, made);
    made.push(line);
    const { inside, otherwise } = described;
    if (!inside) return [built];
    const name = groups[described.action] ?? '';
    const group = { GroupingIdentifier: String(built.WFWorkflowActionParameters.GroupingIdentifier) };
    const then = followBuildList(inside, made);
    const turn = otherwise ? [action(name, { ...group, WFControlFlowMode: 1 })] : [];
    const instead = followBuildList(otherwise ?? [], made);
    const end = action(name, { ...group, WFControlFlowMode: 2, UUID: randomUUID() });
    return [built, ...then, ...turn, ...instead, end];
  });
}

/** A text with its variables in square brackets. */
const asWritten = (text: BuildText) =>
  text.map((part) => (typeof part === 'string' ? part : `[${part.variable}]`)).join('');

const action = (name: string, parameters: PropertyDictionary): WorkflowAction => ({
  WFWorkflowActionIdentifier: `is.workflow.actions.${name}`,
  WFWorkflowActionParameters: parameters,
});

const groups: Readonly<Record<string, string>> = {
  If: 'conditional',
  Repeat: 'repeat.count',
  'Repeat with Each': 'repeat.each',
};

const conditions: Readonly<Record<string, number>> = { is: 4, 'is not': 5, 'begins with': 8, contains: 99 };

function build(line: Line, made: readonly Line[]): WorkflowAction {
  const get = (label: string) => {
    const value = line.fields.get(label);
    if (value === undefined) throw new Error(`${line.number}. ${line.action} has no ${label}`);
    return value;
  };
  const token = (text: string) => tokenString(text, made);
  const attachment = (text: string) => ({
    Value: variableOf(text, made),
    WFSerializationType: 'WFTextTokenAttachment',
  });
  const entries = (label: string) => ({
    Value: {
      WFDictionaryFieldValueItems: [...line.fields]
        .filter(([name]) => name.startsWith(`${label} `))
        .map(([name, text]) => ({
          WFItemType: 0,
          WFKey: token(name.slice(label.length + 1)),
          WFValue: token(text),
        })),
    },
    WFSerializationType: 'WFDictionaryFieldValue',
  });
  const text = (value: string) => (value.includes('[') ? token(value) : value);
  const UUID = line.uuid;
  const group = { GroupingIdentifier: randomUUID(), WFControlFlowMode: 0 };
  switch (line.action) {
    case 'Text':
      return action('gettext', { UUID, WFTextActionText: text(get('Text')) });
    case 'Get Device Details':
      return action('getdevicedetails', { UUID, WFDeviceDetail: get('Detail') });
    case 'Random Number': {
      const between = {
        WFRandomNumberMinimum: Number(get('Minimum')),
        WFRandomNumberMaximum: Number(get('Maximum')),
      };
      return action('number.random', { UUID, ...between });
    }
    case 'Get Contents of URL': {
      const method = get('Method');
      const common = { UUID, WFURL: text(get('URL')), WFHTTPMethod: method, ShowHeaders: true };
      const headers = { WFHTTPHeaders: entries('Header') };
      if (method === 'GET') return action('downloadurl', { ...common, ...headers });
      const body = { WFHTTPBodyType: get('Request Body'), WFJSONValues: entries('JSON Text') };
      return action('downloadurl', { ...common, ...headers, ...body });
    }
    case 'Get Dictionary from Input':
      return action('detect.dictionary', { UUID, WFInput: attachment(get('Input')) });
    case 'Get Dictionary Value': {
      const key = { WFGetDictionaryValueType: 'Value', WFDictionaryKey: get('Key') };
      return action('getvalueforkey', { UUID, ...key, WFInput: attachment(get('Dictionary')) });
    }
    case 'Set Variable':
      return action('setvariable', {
        WFVariableName: get('Variable Name'),
        WFInput: attachment(get('Input')),
      });
    case 'Send Message': {
      if (get('Show When Run') !== 'off') throw new Error('a person would have to tap Send');
      const asText = {
        Type: 'WFCoercionVariableAggrandizement',
        CoercionItemClass: 'WFStringContentItem',
      };
      const to = { ...variableOf(get('Recipients'), made), Aggrandizements: [asText] };
      return action('sendmessage', {
        UUID,
        IntentAppDefinition: {
          BundleIdentifier: 'com.apple.MobileSMS',
          Name: 'Messages',
          TeamIdentifier: '0000000000',
        },
        ShowWhenRun: false,
        WFSendMessageActionRecipients: { Value: to, WFSerializationType: 'WFTextTokenAttachment' },
        WFSendMessageContent: token(get('Message')),
      });
    }
    case 'Wait': {
      const seconds = get('Seconds');
      return action('delay', { WFDelayTime: seconds.includes('[') ? attachment(seconds) : Number(seconds) });
    }
    case 'If':
      return action('conditional', {
        ...group,
        WFCondition: conditions[get('Condition')] ?? -1,
        WFInput: { Type: 'Variable', Variable: attachment(get('Input')) },
        WFConditionalActionString: text(get('Text')),
      });
    case 'Repeat':
      return action('repeat.count', {
        ...group,
        WFRepeatCount: Number(get('Times')),
      });
    case 'Repeat with Each':
      return action('repeat.each', {
        ...group,
        WFInput: attachment(get('Items')),
      });
    case 'Stop This Shortcut':
      return action('exit', {});
    case 'Nothing':
      return action('nothing', {});
    default:
      throw new Error(`the app has no action "${line.action}"`);
  }
}

function tokenString(text: string, made: readonly Line[]): PropertyDictionary {
  const attachmentsByRange: Record<string, PropertyDictionary> = {};
  let string = '';
  for (const part of text.split(/(\[[^\]]+\])/)) {
    if (!part.startsWith('[')) {
      string += part;
      continue;
    }
    attachmentsByRange[`{${string.length}, 1}`] = variableOf(part, made);
    string += '\ufffc';
  }
  const value = Object.keys(attachmentsByRange).length === 0 ? { string } : { string, attachmentsByRange };
  return { Value: value, WFSerializationType: 'WFTextTokenString' };
}

/** The variable that a person chooses for `[Server]`, `[Text of action 1]` or `[Repeat Item, as Message › Sender]`. */
function variableOf(text: string, made: readonly Line[]): PropertyDictionary {
  const words = /^\[([^\]]+)\]$/.exec(text)?.[1];
  if (words === undefined) throw new Error(`the build list uses "${text}", which is no variable`);
  const result = /^(.+) of (?:action (\d+)|the action before)$/.exec(words);
  if (result) {
    const line =
      result[2] === undefined ? made.at(-1) : made.find(({ number }) => number === Number(result[2]));
    if (!line) throw new Error(`there is no action for "${words}"`);
    return { Type: 'ActionOutput', OutputUUID: line.uuid, OutputName: result[1] ?? '' };
  }
  const [name = '', property] = words.split(' › ');
  const ofProperty = { Type: 'WFPropertyVariableAggrandizement', PropertyName: property ?? '' };
  if (name === 'Shortcut Input') return { Type: 'ExtensionInput' };
  if (property === undefined) return { Type: 'Variable', VariableName: name };
  if (name === 'Repeat Item, as Message') {
    const asMessage = coercedTo('WFMessageContentItem');
    return { Type: 'Variable', VariableName: 'Repeat Item', Aggrandizements: [asMessage, ofProperty] };
  }
  const asFile = coercedTo('WFGenericFileContentItem');
  const userInfo = { PropertyUserInfo: 'WFFileExtensionProperty' };
  return { Type: 'Variable', VariableName: name, Aggrandizements: [asFile, { ...ofProperty, ...userInfo }] };
}

const coercedTo = (item: string) => ({ Type: 'WFCoercionVariableAggrandizement', CoercionItemClass: item });
