/**
 * A step of a shortcut, as a person would add it in the editor. The property list and the list to build by hand are
 * made from the same steps.
 */
export type Step =
  | TextStep
  | DeviceDetailStep
  | RandomNumberStep
  | ContentsOfUrlStep
  | DictionaryStep
  | DictionaryValueStep
  | SetVariableStep
  | SendMessageStep
  | WaitStep
  | IfStep
  | RepeatStep
  | RepeatEachStep
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'stop' }
  | { readonly kind: 'nothing' };

/** A step whose result later steps can use. */
export type ResultStep =
  | TextStep
  | DeviceDetailStep
  | RandomNumberStep
  | ContentsOfUrlStep
  | DictionaryStep
  | DictionaryValueStep;

export interface TextStep {
  readonly kind: 'text';
  readonly text: Text;
}

export interface DeviceDetailStep {
  readonly kind: 'device_detail';
  readonly detail: 'Device Name' | 'System Version';
}

/** A whole number from `minimum` to `maximum`, both included. */
export interface RandomNumberStep {
  readonly kind: 'random_number';
  readonly minimum: number;
  readonly maximum: number;
}

/** The action Get Contents of URL: with `json` a POST of an object of texts, otherwise a GET. */
export interface ContentsOfUrlStep {
  readonly kind: 'contents_of_url';
  readonly url: Text;
  readonly headers: Fields;
  readonly json: Fields | undefined;
}

export interface DictionaryStep {
  readonly kind: 'dictionary';
  readonly of: Reference;
}

export interface DictionaryValueStep {
  readonly kind: 'dictionary_value';
  readonly key: string;
  readonly of: Reference;
}

export interface SetVariableStep {
  readonly kind: 'set_variable';
  readonly name: string;
  readonly value: Reference;
}

/** The action Send Message with Show When Run off. It sends a text or one file. */
export interface SendMessageStep {
  readonly kind: 'send_message';
  readonly content: Reference;
  readonly to: Reference;
}

export interface WaitStep {
  readonly kind: 'wait';
  readonly seconds: number | Reference;
}

export type Condition = 'is' | 'is not' | 'contains' | 'begins with';

export interface IfStep {
  readonly kind: 'if';
  readonly input: Reference;
  readonly condition: Condition;
  readonly operand: Text;
  readonly then: readonly Step[];
  readonly otherwise: readonly Step[] | undefined;
}

export interface RepeatStep {
  readonly kind: 'repeat';
  readonly times: number;
  readonly steps: readonly Step[];
}

/** Runs its steps for each item, which they read as `repeatItem`. */
export interface RepeatEachStep {
  readonly kind: 'repeat_each';
  readonly items: Reference;
  readonly steps: readonly Step[];
}

export type Reference =
  | { readonly from: 'variable'; readonly name: string; readonly property?: 'File Extension' }
  | { readonly from: 'result'; readonly of: ResultStep }
  | { readonly from: 'shortcut_input' }
  | { readonly from: 'repeat_item'; readonly property: 'Sender' | 'Content' | 'Recipients' };

/** A text with values inserted. */
export type Text = readonly (string | Reference)[];

/** Names and texts of request headers or of a JSON body, in order. */
export type Fields = readonly (readonly [name: string, text: Text])[];

export const variable = (name: string): Reference => ({ from: 'variable', name });
export const resultOf = (of: ResultStep): Reference => ({ from: 'result', of });
/** The messages that started the shortcut. After a time without network there may be several. */
export const shortcutInput: Reference = { from: 'shortcut_input' };
export const repeatItem = (property: 'Sender' | 'Content' | 'Recipients'): Reference => ({
  from: 'repeat_item',
  property,
});
export const text = (...parts: Text): TextStep => ({ kind: 'text', text: parts });
export const deviceDetail = (detail: DeviceDetailStep['detail']): DeviceDetailStep => ({
  kind: 'device_detail',
  detail,
});
export const randomNumber = (minimum: number, maximum: number): RandomNumberStep => ({
  kind: 'random_number',
  minimum,
  maximum,
});
export const dictionary = (of: Reference): DictionaryStep => ({ kind: 'dictionary', of });
export const dictionaryValue = (key: string, of: Reference): DictionaryValueStep => ({
  kind: 'dictionary_value',
  key,
  of,
});
export const setVariable = (name: string, value: Reference): SetVariableStep => ({
  kind: 'set_variable',
  name,
  value,
});
/** Adds an action and stores its result in a variable. The editor links the two actions, because they are adjacent. */
export const keep = (name: string, step: ResultStep): Step[] => [step, setVariable(name, resultOf(step))];
/**
 * Stores a dictionary value as text in a variable. An If needs a text: the editor drops comparisons with a bare
 * dictionary value.
 */
export const keepAsText = (name: string, step: ResultStep): Step[] => [
  step,
  ...keep(name, text(resultOf(step))),
];
export const sendMessage = (content: Reference, to: Reference): SendMessageStep => ({
  kind: 'send_message',
  content,
  to,
});
export const wait = (seconds: number | Reference): WaitStep => ({ kind: 'wait', seconds });
export const repeat = (times: number, steps: readonly Step[]): RepeatStep => ({
  kind: 'repeat',
  times,
  steps,
});
export const repeatEach = (items: Reference, steps: readonly Step[]): RepeatEachStep => ({
  kind: 'repeat_each',
  items,
  steps,
});
export const stop: Step = { kind: 'stop' };
export const nothing: Step = { kind: 'nothing' };
export const comment = (words: string): Step => ({ kind: 'comment', text: words });

/** Builds an If with its actions and those of Otherwise: `when([variable('Action'), 'is', 'stop'], […], […])`. */
export const when = (
  [input, condition, operand]: readonly [Reference, Condition, string | Reference],
  then: readonly Step[],
  otherwise?: readonly Step[],
): IfStep => ({ kind: 'if', input, condition, operand: [operand], then, otherwise });
