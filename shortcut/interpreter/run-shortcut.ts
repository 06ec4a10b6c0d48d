import { randomInt } from 'node:crypto';
import type { PropertyList } from '../property-list/property-list.ts';
import { getContentsOfUrl } from './get-contents-of-url.ts';
import {
  type Condition,
  type Entry,
  type NumberedOperation,
  type Operation,
  type Source,
  type Template,
  WorkflowError,
} from './operation.ts';
import type { Permissions } from './permissions.ts';
import { readWorkflow } from './read-workflow.ts';
import { type RunClock, sleep } from './run-clock.ts';
import {
  ActionFailure,
  applyChange,
  becomesText,
  dictionaryValueOf,
  type Item,
  type PhoneFile,
  plainValue,
  type ReceivedMessage,
  textOf,
  textValue,
  toDictionary,
  type Value,
} from './value.ts';

/** The parts of an iPhone that a shortcut uses: messages, network and clock. */
export interface Phone {
  readonly clock: RunClock;
  readonly deviceName: string;
  readonly systemVersion: string;
  /** Without it, the person has allowed everything. */
  readonly permissions?: Permissions;
  /** Sends a text or one file. If it throws, the action fails. */
  readonly sendMessage: (message: OutgoingMessage) => void | Promise<void>;
  /** Replaces the network of this machine, for tests. */
  readonly fetch?: typeof fetch;
}

export type OutgoingMessage =
  | { readonly kind: 'text'; readonly to: string; readonly text: string }
  | { readonly kind: 'file'; readonly to: string; readonly file: PhoneFile };

export interface RunOptions {
  /** The messages that started the shortcut. */
  readonly input?: readonly ReceivedMessage[];
  /** Ends the run when it aborts, even within an action. */
  readonly signal?: AbortSignal;
  /** The time after which iOS ends the run, such as `inlineRunMaxMs`. */
  readonly limitMs?: number;
  /** Called for each result and each set variable: an iPhone keeps all of them in memory until the run ends. */
  readonly onKept?: () => void;
}

/** iOS ends the run of an automation that has its own actions, Run Shortcut included, after four minutes. */
export const inlineRunMaxMs = 4 * 60_000;

export type RunEnd =
  | { readonly kind: 'completed' | 'stopped' | 'aborted' | 'time_limit' }
  /** An action failed, which ends the run. `index` is the position of the action in the file. */
  | { readonly kind: 'failed'; readonly index: number; readonly error: ActionFailure };

/**
 * The interpreter: runs a shortcut as an iPhone does. A failing action ends the
 * run. An HTTP error status is no failure. JSON null and missing keys give no value.
 * @throws WorkflowError if the property list differs from the form that an iPhone needs
 */
export async function runShortcut(
  workflow: PropertyList,
  phone: Phone,
  options: RunOptions = {},
): Promise<RunEnd> {
  const { operations } = readWorkflow(workflow);
  const limit = new AbortController();
  const cancel =
    options.limitMs === undefined ? undefined : phone.clock.after(options.limitMs, () => limit.abort());
  const signal = AbortSignal.any([limit.signal, ...(options.signal ? [options.signal] : [])]);
  const run = new Run(phone, options, signal);
  try {
    return { kind: (await run.block(operations)) ? 'completed' : 'stopped' };
  } catch (error) {
    if (error instanceof WorkflowError) throw error;
    if (options.signal?.aborted) return { kind: 'aborted' };
    if (limit.signal.aborted) return { kind: 'time_limit' };
    if (!(error instanceof ActionFailure)) throw error;
    return { kind: 'failed', index: run.index, error };
  } finally {
    cancel?.();
  }
}

class Run {
  index = 0;
  readonly #phone: Phone;
  readonly #options: RunOptions;
  /** The item of Repeat with Each. */
  #item: Item | undefined;
  readonly #signal: AbortSignal;
  readonly #variables = new Map<string, Value>();
  readonly #results = new Map<string, Value>();

  constructor(phone: Phone, options: RunOptions, signal: AbortSignal) {
    this.#phone = phone;
    this.#options = options;
    this.#signal = signal;
  }

  /** Runs operations in order. @returns false if the shortcut stopped itself */
  async block(operations: readonly NumberedOperation[]): Promise<boolean> {
    for (const { index, operation } of operations) {
      this.index = index;
      this.#signal.throwIfAborted();
      if (!(await this.#run(operation))) return false;
    }
    return true;
  }

  async #run(operation: Operation): Promise<boolean> {
    switch (operation.kind) {
      case 'stop':
        return false;
      case 'if':
        return this.block(this.#holds(operation) ? operation.then : operation.otherwise);
      case 'repeat':
        for (let round = 0; round < operation.times; round += 1)
          if (!(await this.block(operation.body))) return false;
        return true;
      case 'repeat_each':
        return this.#repeatEach(operation);
      default:
        await this.#act(operation);
        return true;
    }
  }

  async #repeatEach({ items, body }: Extract<Operation, { kind: 'repeat_each' }>): Promise<boolean> {
    // Inside another Repeat with Each, the item has another name.
    if (this.#item) throw new WorkflowError(`action ${this.index} repeats within a Repeat with Each`);
    try {
      for (const item of this.#value(items).items) {
        this.#item = item;
        if (!(await this.block(body))) return false;
      }
      return true;
    } finally {
      this.#item = undefined;
    }
  }

  async #act(
    operation: Exclude<Operation, { kind: 'stop' | 'if' | 'repeat' | 'repeat_each' }>,
  ): Promise<void> {
    switch (operation.kind) {
      case 'text':
        this.#keep(this.#results, operation.uuid, textValue(this.#text(operation.text)));
        break;
      case 'device_detail': {
        const { deviceName, systemVersion } = this.#phone;
        const detail = operation.detail === 'Device Name' ? deviceName : systemVersion;
        this.#keep(this.#results, operation.uuid, textValue(detail));
        break;
      }
      case 'random_number': {
        const number = randomInt(operation.minimum, operation.maximum + 1);
        this.#keep(this.#results, operation.uuid, plainValue({ kind: 'number', number }));
        break;
      }
      case 'contents_of_url':
        this.#keep(this.#results, operation.uuid, await this.#contentsOfUrl(operation));
        break;
      case 'dictionary':
        this.#keep(this.#results, operation.uuid, toDictionary(this.#value(operation.input)));
        break;
      case 'dictionary_value':
        this.#keep(
          this.#results,
          operation.uuid,
          dictionaryValueOf(this.#value(operation.input), operation.key),
        );
        break;
      case 'set_variable':
        this.#keep(this.#variables, operation.name, this.#value(operation.value));
        break;
      case 'send_message':
        await this.#sendMessage(operation);
        break;
      case 'wait':
        await this.#wait(operation.seconds);
        break;
      case 'nothing':
        break;
    }
  }

  async #contentsOfUrl(operation: Extract<Operation, { kind: 'contents_of_url' }>): Promise<Value> {
    const { clock, fetch: fetchUrl = fetch } = this.#phone;
    const request = {
      url: this.#text(operation.url),
      headers: this.#entries(operation.headers),
      json: operation.json && this.#entries(operation.json),
    };
    const host = URL.parse(request.url)?.host ?? '';
    await this.#phone.permissions?.check({ action: operation.uuid, kind: 'connect', host });
    return getContentsOfUrl(request, fetchUrl, clock, this.#signal);
  }

  async #sendMessage(operation: Extract<Operation, { kind: 'send_message' }>): Promise<void> {
    const to = textOf(this.#value(operation.to));
    if (!recipient.test(to)) throw new ActionFailure(`Send Message finds no recipient in "${to}"`);
    const file = this.#singleFile(operation.content);
    const text = file ? '' : this.#text(operation.content);
    if (!file && text === '') throw new ActionFailure('Send Message has no message');
    await this.#phone.permissions?.check({ action: operation.action, kind: 'send', host: 'Messages' });
    try {
      await this.#phone.sendMessage(file ? { kind: 'file', to, file } : { kind: 'text', to, text });
    } catch (error) {
      throw new ActionFailure('Messages did not take the message', { cause: error });
    }
  }

  /** @throws ActionFailure for several files, which iOS sends only when a person taps Send */
  #singleFile(content: Template): PhoneFile | undefined {
    const items = content.flatMap((part) => (typeof part === 'string' ? [] : this.#value(part).items));
    const files = items.flatMap((item) =>
      item.kind === 'file' && !becomesText(item.file) ? [item.file] : [],
    );
    if (files.length > 1 || (files.length === 1 && content.length > 1))
      throw new ActionFailure('Send Message shows a window for more than one attachment');
    return files[0];
  }

  async #wait(asked: number | Source): Promise<void> {
    const seconds = typeof asked === 'number' ? asked : readNumber(textOf(this.#value(asked)));
    await sleep(this.#phone.clock, seconds * 1_000, this.#signal);
  }

  #holds({ input: source, condition, operand }: Extract<Operation, { kind: 'if' }>): boolean {
    const value = this.#value(source);
    if (value.isDictionaryValue)
      throw new WorkflowError('an If compares a dictionary value, which the editor shows as blank');
    const input = textOf(value);
    // An empty value clears a variable. An If without an input then takes Otherwise, whatever its condition is.
    return input !== '' && compare(input, condition, this.#text(operand));
  }

  #entries(entries: readonly Entry[]): Record<string, string> {
    return Object.fromEntries(entries.map(({ name, value }) => [this.#text(name), this.#text(value)]));
  }

  #text(template: Template): string {
    return template.map((part) => (typeof part === 'string' ? part : textOf(this.#value(part)))).join('');
  }

  #value(source: Source): Value {
    return source.changes.reduce(applyChange, this.#origin(source.from));
  }

  #origin(from: Source['from']): Value {
    switch (from.kind) {
      case 'input':
        return plainValue(
          ...(this.#options.input ?? []).map((message) => ({ kind: 'message', message }) as const),
        );
      case 'repeat_item':
        return this.#known(this.#item && plainValue(this.#item), 'Repeat Item');
      case 'variable':
        return this.#known(this.#variables.get(from.name), `the variable ${from.name}`);
      case 'result':
        return this.#known(this.#results.get(from.uuid), 'a result');
    }
  }

  #keep(values: Map<string, Value>, name: string, value: Value): void {
    values.set(name, value);
    this.#options.onKept?.();
  }

  /** Refuses a missing value. An iPhone would continue without it, which the shortcuts never intend. */
  #known(value: Value | undefined, what: string): Value {
    if (!value) throw new WorkflowError(`action ${this.index} reads ${what} before it is set`);
    return value;
  }
}

/** A text becomes a recipient if Shortcuts sees a number with its country code, or an e-mail address. */
const recipient = /^(?:\+[1-9]\d{6,14}|[^@\s]+@[^@\s]+\.[^@\s]+)$/;

/** @throws WorkflowError if the result depends on the case of letters, which not all conditions ignore */
function compare(text: string, condition: Condition, operand: string): boolean {
  const result = holds(text, condition, operand);
  if (result !== holds(text.toLowerCase(), condition, operand.toLowerCase()))
    throw new WorkflowError(`an If compares "${text}" with "${operand}", and the case of letters decides`);
  return result;
}

function holds(text: string, condition: Condition, operand: string): boolean {
  switch (condition) {
    case 'is':
      return text === operand;
    case 'is not':
      return text !== operand;
    case 'begins with':
      return text.startsWith(operand);
    case 'contains':
      return text.includes(operand);
  }
}

function readNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number) || number < 0)
    throw new ActionFailure(`Wait cannot read "${text}" as a number`);
  return number;
}
