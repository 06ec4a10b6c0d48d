import type { Change, Property } from './operation.ts';

/** A received message, with the fields that an automation passes to its shortcut. An unknown sender is "". */
export interface ReceivedMessage {
  readonly sender: string;
  readonly content: string;
  readonly recipients: readonly string[];
}

export interface PhoneFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

export type Item =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'dictionary'; readonly entries: Readonly<Record<string, unknown>> }
  | { readonly kind: 'file'; readonly file: PhoneFile }
  | { readonly kind: 'message'; readonly message: ReceivedMessage };

/** A value of Shortcuts is a list of items; the empty list means no value. */
export interface Value {
  readonly items: readonly Item[];
  /** Whether the value is an unchanged result of Get Dictionary Value, which an If cannot compare. */
  readonly isDictionaryValue: boolean;
}

export const textValue = (text: string): Value => plainValue({ kind: 'text', text });
export const plainValue = (...items: Item[]): Value => ({ items, isDictionaryValue: false });

/** The failure of an action, which ends the run. */
export class ActionFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ActionFailure';
  }
}

/** Converts a value to text: one line for each item, "" for no value. */
export function textOf({ items }: Value): string {
  return items.map(itemText).join('\n');
}

function itemText(item: Item): string {
  switch (item.kind) {
    case 'text':
      return item.text;
    case 'number':
      return String(item.number);
    case 'dictionary':
      // Shortcuts does not keep the order of keys.
      return JSON.stringify(Object.fromEntries(Object.entries(item.entries).reverse()));
    case 'message':
      return item.message.content;
    case 'file':
      return becomesText(item.file) ? item.file.bytes.toString('utf8') : item.file.name;
  }
}

/** Whether Shortcuts makes text of a file: of words, a contact or a calendar entry. */
export function becomesText({ mediaType }: PhoneFile): boolean {
  return /^text\/|[/+](?:json|xml)$/.test(mediaType);
}

/** Converts parsed JSON to items: null gives none, a boolean 1 or 0, an array several. */
export function itemsOfJson(json: unknown): readonly Item[] {
  if (json === null || json === undefined) return [];
  if (typeof json === 'string') return [{ kind: 'text', text: json }];
  if (typeof json === 'boolean') return [{ kind: 'number', number: json ? 1 : 0 }];
  if (typeof json === 'number') return [{ kind: 'number', number: json }];
  if (Array.isArray(json)) return json.flatMap(itemsOfJson);
  return [{ kind: 'dictionary', entries: json as Readonly<Record<string, unknown>> }];
}

/** The action Get Dictionary from Input. @throws ActionFailure if the input is no dictionary */
export function toDictionary(value: Value): Value {
  const [item] = value.items;
  if (item?.kind === 'dictionary') return plainValue(item);
  const json = parseJson(textOf(value));
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new ActionFailure('Get Dictionary from Input could not convert from Text to Dictionary');
  return plainValue({ kind: 'dictionary', entries: json as Readonly<Record<string, unknown>> });
}

/** Parses JSON. @returns undefined if the text is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The action Get Dictionary Value; a missing key gives no value. @throws ActionFailure if the input is no dictionary
 */
export function dictionaryValueOf(value: Value, key: string): Value {
  const [item] = toDictionary(value).items;
  const entries = item?.kind === 'dictionary' ? item.entries : {};
  const found = Object.hasOwn(entries, key) ? entries[key] : undefined;
  return { items: itemsOfJson(found), isDictionaryValue: true };
}

export function applyChange(value: Value, change: Change): Value {
  switch (change.kind) {
    case 'as_text':
      return textValue(textOf(value));
    case 'as_file':
      return plainValue(...value.items.map(toFile));
    case 'as_message':
      return plainValue(...value.items.filter(({ kind }) => kind === 'message'));
    case 'property':
      return plainValue(...value.items.flatMap((item) => propertyOf(item, change.name)));
  }
}

function toFile(item: Item): Item {
  if (item.kind === 'file') return item;
  const text = itemText(item);
  const [extension, mediaType] =
    item.kind === 'dictionary' ? ['json', 'application/json'] : ['txt', 'text/plain'];
  return { kind: 'file', file: { name: `Text.${extension}`, mediaType, bytes: Buffer.from(text) } };
}

function propertyOf(item: Item, property: Property): readonly Item[] {
  if (property === 'File Extension') {
    if (item.kind !== 'file') return [];
    return [{ kind: 'text', text: extensionOf(item.file.name) }];
  }
  if (item.kind !== 'message') return [];
  const { sender, content, recipients } = item.message;
  const texts = { Sender: sender === '' ? [] : [sender], Content: [content], Recipients: recipients }[
    property
  ];
  return texts.map((text) => ({ kind: 'text', text }));
}

function extensionOf(name: string): string {
  return /\.([^.]+)$/.exec(name)?.[1] ?? '';
}
