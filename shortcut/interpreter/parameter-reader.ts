import { isPropertyArray, isPropertyDictionary, type PropertyList } from '../property-list/property-list.ts';
import { type Change, type Entry, type Source, type Template, WorkflowError } from './operation.ts';

/** The UTF-16 code unit that marks the position of a value inside a text. */
const valuePlaceholder = '\ufffc';

/** The changes of a value by the item class that it is coerced to. */
const coercions = {
  WFStringContentItem: 'as_text',
  WFGenericFileContentItem: 'as_file',
  WFMessageContentItem: 'as_message',
} as const;

/** The change to the class that has a property. */
const classOf = {
  Sender: 'as_message',
  Content: 'as_message',
  Recipients: 'as_message',
  'File Extension': 'as_file',
} as const;

type ItemClass = keyof typeof coercions;

/**
 * Reads a dictionary of a property list key by key. Missing keys, values of a wrong type and unread keys are errors, so
 * that a misspelt parameter is noticed.
 */
export class ParameterReader {
  readonly #where: string;
  readonly #left: Map<string, PropertyList>;
  /** UUIDs of the earlier actions whose results may be used. */
  readonly #results: ReadonlySet<string>;

  constructor(where: string, value: PropertyList | undefined, results: ReadonlySet<string>) {
    this.#where = where;
    if (!isPropertyDictionary(value)) throw this.#error('is no dictionary');
    this.#left = new Map(Object.entries(value));
    this.#results = results;
  }

  has(key: string): boolean {
    return this.#left.has(key);
  }

  take(key: string): PropertyList {
    const value = this.#left.get(key);
    if (value === undefined) throw this.#error(`has no ${key}`);
    this.#left.delete(key);
    return value;
  }

  string(key: string): string {
    const value = this.take(key);
    if (typeof value !== 'string') throw this.#error(`has a ${key} that is no text`);
    return value;
  }

  integer(key: string): number {
    const value = this.take(key);
    if (typeof value !== 'number' || !Number.isInteger(value))
      throw this.#error(`has a ${key} that is no whole number`);
    return value;
  }

  date(key: string): Date {
    const value = this.take(key);
    if (!(value instanceof Date)) throw this.#error(`has a ${key} that is no date`);
    return value;
  }

  oneOf<Word extends string>(key: string, words: readonly Word[]): Word {
    const value = this.string(key);
    const word = words.find((known) => known === value);
    if (word === undefined) throw this.#error(`has the unknown ${key} "${value}"`);
    return word;
  }

  /** Reads a parameter that must be a constant. @throws WorkflowError if it is not `expected` */
  expect(key: string, expected: PropertyList): void {
    const value = this.take(key);
    if (JSON.stringify(value) !== JSON.stringify(expected))
      throw this.#error(`has ${key} ${JSON.stringify(value)}, not ${JSON.stringify(expected)}`);
  }

  inside(key: string): ParameterReader {
    return this.#reader(key, this.take(key));
  }

  array(key: string): readonly PropertyList[] {
    const value = this.take(key);
    if (!isPropertyArray(value)) throw this.#error(`has a ${key} that is no array`);
    return value;
  }

  items(key: string): ParameterReader[] {
    return this.array(key).map((item, index) => this.#reader(`${key} ${index}`, item));
  }

  /** Ends the reading of a dictionary. @throws WorkflowError if a key was not read */
  end(): void {
    const [key] = this.#left.keys();
    if (key !== undefined) throw this.#error(`has the unknown key ${key}`);
  }

  /** Reads a parameter that consists of one variable. */
  attachment(key: string): Source {
    const reader = this.inside(key);
    reader.expect('WFSerializationType', 'WFTextTokenAttachment');
    const source = reader.inside('Value').source();
    reader.end();
    return source;
  }

  integerOrAttachment(key: string): number | Source {
    return typeof this.#left.get(key) === 'number' ? this.integer(key) : this.attachment(key);
  }

  /** Reads a text, with or without variables. */
  template(key: string): Template {
    const value = this.#left.get(key);
    if (typeof value !== 'string') return this.tokenString(key);
    this.take(key);
    if (value.includes(valuePlaceholder)) throw this.#error(`has a placeholder without a variable in ${key}`);
    return [value];
  }

  tokenString(key: string): Template {
    const reader = this.inside(key);
    reader.expect('WFSerializationType', 'WFTextTokenString');
    const template = reader.inside('Value').#templateValue();
    reader.end();
    return template;
  }

  /** Reads headers or a JSON body, whose values are all texts. */
  entries(key: string): readonly Entry[] {
    const reader = this.inside(key);
    reader.expect('WFSerializationType', 'WFDictionaryFieldValue');
    const value = reader.inside('Value');
    const entries = value.items('WFDictionaryFieldValueItems').map((item) => {
      item.expect('WFItemType', 0);
      const entry = { name: item.tokenString('WFKey'), value: item.tokenString('WFValue') };
      item.end();
      return entry;
    });
    value.end();
    reader.end();
    return entries;
  }

  /** Reads a reference to a variable from this dictionary. */
  source(): Source {
    const type = this.oneOf('Type', ['Variable', 'ActionOutput', 'ExtensionInput']);
    const from = this.#from(type);
    const changes = this.has('Aggrandizements')
      ? this.items('Aggrandizements').map((reader) => reader.#change())
      : [];
    this.end();
    // Without the class, a phone may look for the property on the item that it happens to have.
    const property = changes.find((change) => change.kind === 'property');
    if (property && changes[0]?.kind !== classOf[property.name])
      throw this.#error(`reads ${property.name} without the class that has it`);
    return { from, changes };
  }

  #from(type: 'Variable' | 'ActionOutput' | 'ExtensionInput'): Source['from'] {
    if (type === 'ExtensionInput') return { kind: 'input' };
    if (type === 'Variable') {
      const name = this.string('VariableName');
      return name === 'Repeat Item' ? { kind: 'repeat_item' } : { kind: 'variable', name };
    }
    const uuid = this.string('OutputUUID');
    if (this.string('OutputName') === '') throw this.#error('has an empty OutputName');
    if (!this.#results.has(uuid)) throw this.#error('uses the result of no action before it');
    return { kind: 'result', uuid };
  }

  #change(): Change {
    const type = this.oneOf('Type', ['WFPropertyVariableAggrandizement', 'WFCoercionVariableAggrandizement']);
    const change = type === 'WFCoercionVariableAggrandizement' ? this.#coercion() : this.#property();
    this.end();
    return change;
  }

  #coercion(): Change {
    return { kind: coercions[this.oneOf('CoercionItemClass', Object.keys(coercions) as ItemClass[])] };
  }

  #property(): Change {
    const name = this.oneOf('PropertyName', ['Sender', 'Content', 'Recipients', 'File Extension']);
    if (name === 'File Extension') this.expect('PropertyUserInfo', 'WFFileExtensionProperty');
    return { kind: 'property', name };
  }

  /** Splits the string at its placeholders. Each placeholder needs a range, and each range a placeholder. */
  #templateValue(): Template {
    const string = this.string('string');
    const ranges = this.has('attachmentsByRange') ? this.inside('attachmentsByRange') : undefined;
    this.end();
    const parts: (string | Source)[] = [];
    let fixed = '';
    for (let index = 0; index < string.length; index += 1) {
      const unit = string[index] ?? '';
      if (unit !== valuePlaceholder) {
        fixed += unit;
        continue;
      }
      if (!ranges) throw this.#error('has a placeholder without a range');
      parts.push(fixed, ranges.inside(`{${index}, 1}`).source());
      fixed = '';
    }
    ranges?.end();
    return [...parts, fixed].filter((part) => part !== '');
  }

  #reader(key: string, value: PropertyList): ParameterReader {
    return new ParameterReader(`${this.#where}, ${key}`, value, this.#results);
  }

  #error(problem: string): WorkflowError {
    return new WorkflowError(`${this.#where} ${problem}`);
  }
}
