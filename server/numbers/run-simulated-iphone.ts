import { randomInt } from 'node:crypto';
import { type TestOutcome, testLine, testOutcomeOf } from '#contract/test-line.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import type { PhoneLine, PhoneOptions, PhoneOutcome } from '#simulated-phone/simulated-phone.ts';
import type { RunSimulatedPhone } from './simulated-phone-worker.ts';

/** Shortest time until a simulated contact replies. */
const replyMinMs = 2_000;
const replyMaxMs = 4_000;

/** Time until the recipient of a test message replies: the report of the message comes first. */
const testReplyMs = 1_000;

const testReplies: Readonly<Partial<Record<TestOutcome, string>>> = { reply_yes: 'Yes', reply_stop: 'STOP' };

const phoneOutcomes: ReadonlySet<string> = new Set<PhoneOutcome>([
  'sent',
  'slow',
  'device_error',
  'not_delivered',
  'device_timeout',
]);

type Sent = PhoneLine & { readonly did: 'sent' };

/** The reply of a message's recipient; undefined for none. */
type Reply = (line: Sent) => { readonly text: string; readonly afterMs: number } | undefined;

/**
 * Runs a phone of simulated-phone/ for each simulated number (decision 0033). The phone speaks the device protocol with
 * this process over loopback HTTP, whatever address the setup link names. Simulated contacts reply to its messages. On
 * the number of test keys, the recipient decides the outcome, and whether there is a reply (decision 0042).
 * @param address returns the address of this process, once it listens
 */
export function createRunSimulatedIphone(
  { clock, logger }: Runtime,
  address: () => string,
): RunSimulatedPhone {
  return async (setupToken, signal) => {
    // The simulated phone's code is loaded for the first simulated number, because most servers have no such number.
    const { claimDevice } = await import('#simulated-phone/device-client.ts');
    const server = reachable(address());
    const { deviceToken, phoneNumber } = await claimDevice(`${server}/setup/${setupToken}`);
    const isTest = phoneNumber === testLine;
    const replyOf = isTest ? testReply : await createPlausibleReply(clock);
    const cancels = new Set<() => void>();
    const reply = (line: Sent) => {
      const found = replyOf(line);
      if (found === undefined) return;
      const cancel = clock.after(found.afterMs, () => {
        cancels.delete(cancel);
        // The server refuses the reply if the number was deleted meanwhile; such an error is ignored. The id, which a
        // shortcut does not send, tells equal replies to two messages apart.
        phone
          .receive({ from: line.to, text: found.text, id: `reply to ${line.id}` })
          .catch((error: unknown) => {
            logger.debug({ err: error }, 'the reply to a simulated iPhone was refused');
          });
      });
      cancels.add(cancel);
    };
    const options: PhoneOptions = {
      server,
      deviceToken,
      reportsDelivery: true,
      onLine: (line) => {
        if (line.did === 'sent') reply(line);
      },
    };
    const phone = isTest ? await createTestPhone(options) : await createShortcutPhone(options);
    const switchOff = () => phone.switchOff();
    signal.addEventListener('abort', switchOff);
    if (signal.aborted) switchOff();
    try {
      await phone.run();
    } finally {
      signal.removeEventListener('abort', switchOff);
      for (const cancel of cancels) cancel();
      phone.switchOff();
    }
  };
}

async function createShortcutPhone(options: PhoneOptions) {
  const { ShortcutPhone } = await import('#simulated-phone/shortcut-phone.ts');
  return new ShortcutPhone(options);
}

/** A plain client of the device protocol, because a shortcut can't report a failure. */
async function createTestPhone(options: PhoneOptions) {
  const { SimulatedPhone } = await import('#simulated-phone/simulated-phone.ts');
  const outcomeOf = (to: string): PhoneOutcome => {
    const outcome = testOutcomeOf(to);
    return phoneOutcomes.has(outcome) ? (outcome as PhoneOutcome) : 'delivered';
  };
  return new SimulatedPhone({ ...options, outcomeOf });
}

const testReply: Reply = ({ to }) => {
  const text = testReplies[testOutcomeOf(to)];
  return text === undefined ? undefined : { text, afterMs: testReplyMs };
};

async function createPlausibleReply(clock: Clock): Promise<Reply> {
  const { PlausibleReplies } = await import('#simulated-phone/plausible-replies.ts');
  const replies = new PlausibleReplies();
  return (line) => {
    const text = replies.next({ ...line, hasFile: line.media !== undefined }, clock.elapsedMs());
    return text === undefined ? undefined : { text, afterMs: randomInt(replyMinMs, replyMaxMs) };
  };
}

/** Replaces the wildcard address of a listener by the loopback address. */
function reachable(address: string): string {
  return address.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]');
}
