import { parseBuffer } from 'bplist-parser';
import { contains } from '#shortcut/inbound-coverage/coverage.ts';
import { importShortcut } from '#shortcut/interpreter/import-shortcut.ts';
import { type Consent, Permissions, type Question } from '#shortcut/interpreter/permissions.ts';
import { readWorkflow } from '#shortcut/interpreter/read-workflow.ts';
import {
  type OutgoingMessage,
  type RunEnd,
  type RunOptions,
  runShortcut,
} from '#shortcut/interpreter/run-shortcut.ts';
import type { ReceivedMessage } from '#shortcut/interpreter/value.ts';
import type { PropertyDictionary } from '#shortcut/property-list/property-list.ts';
import { writeBinaryPropertyList } from '#shortcut/property-list/write-binary.ts';
import { buildWorkflow, inbound, outbox, type Shortcut } from '#shortcut/shortcuts.ts';
import { until } from '#test/support/service/until.ts';
import { PhoneClock } from './phone-clock.ts';

/** Awaits the end of a run. @throws if it does not end within the limit of a test */
export async function endOf(run: Promise<RunEnd>): Promise<RunEnd> {
  let settled = false;
  run
    .finally(() => {
      settled = true;
    })
    .catch(() => undefined);
  await until('the run ends', () => settled);
  return run;
}

/** Setup code that the setup page shows for a server and a device token. */
export const setupCodeOf = (server: string, deviceToken: string) =>
  `{"server":"${server}","device_token":"${deviceToken}"}`;

interface PhoneOptions {
  /** Answer to the question that iOS asks when it imports the shortcuts. */
  readonly setupCode: string;
  readonly deviceName?: string;
  /** By default 26.1. Only iOS 27 and newer reads the automations of a file. */
  readonly systemVersion?: string;
  /** Unsigned files to install, by the name of the shortcut; by default the generic ones. */
  readonly files?: ReadonlyMap<string, Buffer>;
  /** Replaces the network of this machine. */
  readonly fetch?: typeof fetch;
  /** If it throws, the simulated app Messages refuses to send. */
  readonly onSend?: (message: OutgoingMessage) => void | Promise<void>;
}

/**
 * An iPhone with both shortcuts. A library that is not ours parses the generic files.
 * They are imported with the setup code as the answer to their question.
 */
export class ShortcutPhone {
  /** Messages that the app accepted, in order. */
  readonly sent: OutgoingMessage[] = [];
  readonly clock = new PhoneClock();
  readonly #options: PhoneOptions;
  readonly #outbox: PropertyDictionary;
  readonly #inbound: PropertyDictionary;
  readonly #permissions = new Permissions();
  /** Texts of *Message Contains* of the automations that are on. */
  #messageTexts: readonly string[] = [];
  #lastInbound: Promise<unknown> = Promise.resolve();
  readonly #off = new AbortController();
  readonly #runs: Promise<unknown>[] = [];

  constructor(options: PhoneOptions) {
    this.#options = options;
    this.#outbox = this.#install(outbox);
    this.#inbound = this.#install(inbound);
  }

  /** Texts of the messages in `sent`. */
  get texts(): string[] {
    return this.sent.flatMap((message) => (message.kind === 'text' ? [message.text] : []));
  }

  /** Starts Outbox, as a tap or an automation does. @returns the end of its run */
  startOutbox(options: RunOptions = {}): Promise<RunEnd> {
    return this.#run(this.#outbox, options);
  }

  /** Locks the iPhone: it can't ask questions, so an action fails that was not allowed before. */
  lock(): void {
    this.#permissions.isLocked = true;
  }

  unlock(): void {
    this.#permissions.isLocked = false;
  }

  /** Answers the questions of the iPhone from now on; until then each one gets *Always Allow*. */
  onQuestion(answer: (question: Question) => Consent | Promise<Consent>): void {
    this.#permissions.onQuestion = answer;
  }

  /** Switches on the automations of the file of Inbound, which iOS 27 imports switched off. */
  switchOnAutomations(): void {
    if (this.#major < 27) return;
    const { triggers } = readWorkflow(this.#inbound);
    this.#messageTexts = triggers.flatMap((trigger) =>
      trigger.kind === 'message' ? [trigger.contains] : [],
    );
  }

  /** Makes automations for messages, as a person does before iOS 27. @param texts of *Message Contains* */
  makeAutomations(texts: readonly string[]): void {
    this.#messageTexts = texts;
  }

  /** Takes a text: each automation that is on and matches starts Inbound, one run after the other. */
  incoming(message: ReceivedMessage): Promise<readonly RunEnd[]> {
    const matching = this.#messageTexts.filter((text) => contains(message.content, text));
    const runs = matching.map(() => {
      const run = this.#lastInbound.then(() => this.receive(message));
      this.#lastInbound = run.catch(() => undefined);
      return run;
    });
    return Promise.all(runs);
  }

  /** Receives texts, which an automation passes on in one run. */
  receive(...input: ReceivedMessage[]): Promise<RunEnd> {
    return this.#run(this.#inbound, { input });
  }

  /** Ends all runs. */
  async switchOff(): Promise<void> {
    this.#off.abort();
    await Promise.allSettled(this.#runs);
  }

  get #major(): number {
    return Number.parseInt(this.#options.systemVersion ?? '26.1', 10);
  }

  #install(shortcut: Shortcut): PropertyDictionary {
    const form = this.#major < 27 ? 26 : 27;
    const bytes =
      this.#options.files?.get(shortcut.name) ??
      writeBinaryPropertyList(buildWorkflow(shortcut, undefined, form));
    const [file] = parseBuffer<PropertyDictionary>(bytes);
    return importShortcut(file, [this.#options.setupCode]);
  }

  #run(workflow: PropertyDictionary, options: RunOptions): Promise<RunEnd> {
    const { deviceName = 'Office iPhone', systemVersion = '26.1', onSend, fetch: network } = this.#options;
    const running = runShortcut(
      workflow,
      {
        clock: this.clock,
        deviceName,
        systemVersion,
        permissions: this.#permissions,
        ...(network && { fetch: network }),
        sendMessage: async (message) => {
          await onSend?.(message);
          this.sent.push(message);
        },
      },
      {
        ...options,
        signal: AbortSignal.any([this.#off.signal, ...(options.signal ? [options.signal] : [])]),
      },
    );
    this.#runs.push(running);
    return running;
  }
}
