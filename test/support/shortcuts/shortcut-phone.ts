import { parseBuffer } from 'bplist-parser';
import { importShortcut } from '#shortcut/interpreter/import-shortcut.ts';
import {
  type OutgoingMessage,
  type RunEnd,
  type RunOptions,
  runShortcut,
} from '#shortcut/interpreter/run-shortcut.ts';
import type { ReceivedMessage } from '#shortcut/interpreter/value.ts';
import type { PropertyList } from '#shortcut/property-list/property-list.ts';
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
  readonly #outbox: PropertyList;
  readonly #inbound: PropertyList;
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

  /** Receives texts, which an automation passes on in one run. */
  receive(...input: ReceivedMessage[]): Promise<RunEnd> {
    return this.#run(this.#inbound, { input });
  }

  /** Ends all runs. */
  async switchOff(): Promise<void> {
    this.#off.abort();
    await Promise.allSettled(this.#runs);
  }

  #install(shortcut: Shortcut): PropertyList {
    const bytes = this.#options.files?.get(shortcut.name) ?? writeBinaryPropertyList(buildWorkflow(shortcut));
    const [file] = parseBuffer<PropertyList>(bytes);
    return importShortcut(file, [this.#options.setupCode]);
  }

  #run(workflow: PropertyList, options: RunOptions): Promise<RunEnd> {
    const { deviceName = 'Office iPhone', onSend, fetch: network } = this.#options;
    const running = runShortcut(
      workflow,
      {
        clock: this.clock,
        deviceName,
        systemVersion: '26.1',
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
