import { readFile } from 'node:fs/promises';
import { CommandError, claimDevice, type Flat } from './device-client.ts';
import { ShortcutPhone } from './shortcut-phone.ts';
import { type PhoneLine, type PhoneOptions, SimulatedPhone } from './simulated-phone.ts';

export interface SimulationOptions {
  readonly setupUrl: string;
  /** A file with one inbound message per line: `{"from": "+14155550101", "text": "Yes"}`. */
  readonly inboundFile: string | undefined;
  /** The reply that the phone receives to each message that it sends. */
  readonly reply: string | undefined;
  readonly failRate: number;
  readonly count: number | undefined;
  readonly reportsDelivery: boolean;
  /** Uses a plain client of the device protocol instead of the shortcuts. */
  readonly isPlainClient: boolean;
  readonly write: (line: Readonly<Record<string, unknown>>) => void;
}

/**
 * `ownline phone simulate`: claims a setup link and passes on the inbound messages of a file. It then polls until it
 * gets a stop, has handled `count` messages or is interrupted. It prints one line per action.
 */
export async function simulatePhone(options: SimulationOptions): Promise<void> {
  const inbound = options.inboundFile === undefined ? [] : await readInbound(options.inboundFile);
  const device = await claimDevice(options.setupUrl);
  options.write({ did: 'claimed', phone_number: device.phoneNumber, server: device.server });
  const replies: Promise<string | undefined>[] = [];
  const phoneOptions: PhoneOptions = {
    server: device.server,
    deviceToken: device.deviceToken,
    failRate: options.failRate,
    reportsDelivery: options.reportsDelivery,
    ...(options.count === undefined ? {} : { count: options.count }),
    onLine: (line: PhoneLine) => {
      options.write({ ...line });
      if (line.did === 'sent' && options.reply !== undefined) {
        replies.push(phone.receive({ from: line.to, text: options.reply }));
      }
    },
  };
  // A shortcut cannot report a failure, because a failing action ends it.
  const isPlainClient = options.isPlainClient || options.failRate > 0;
  const phone = isPlainClient ? new SimulatedPhone(phoneOptions) : new ShortcutPhone(phoneOptions);
  process.once('SIGINT', () => phone.switchOff());
  process.once('SIGTERM', () => phone.switchOff());
  const running = phone.run();
  for (const message of inbound) await phone.receive(message);
  await running;
  await Promise.all(replies);
}

async function readInbound(file: string): Promise<Flat[]> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new CommandError(`${file} can't be read. --inbound takes a file with one JSON object per line.`);
  });
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, index) => {
    const parsed = parseLine(line);
    if (typeof parsed?.from !== 'string' || typeof parsed.text !== 'string') {
      throw new CommandError(
        `Line ${index + 1} of ${file} is not an inbound message; one looks like {"from": "+14155550101", "text": "Yes"}.`,
      );
    }
    return parsed as Flat;
  });
}

function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
