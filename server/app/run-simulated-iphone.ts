import { randomInt } from 'node:crypto';
import type { RunSimulatedPhone } from '#server/numbers/simulated-phone-worker.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import type { PhoneLine } from '#simulated-phone/simulated-phone.ts';

/** Shortest time until a simulated contact replies. */
const replyMinMs = 2_000;
const replyMaxMs = 4_000;

interface Services {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Runs a phone of simulated-phone/ for each simulated number (decision 0033). It speaks the device protocol with this
 * process over loopback HTTP, whatever address the setup link names. Simulated contacts reply to its messages.
 * @param address returns the address of this process, once it listens
 */
export function createRunSimulatedIphone(
  { clock, logger }: Services,
  address: () => string,
): RunSimulatedPhone {
  return async (setupToken, signal) => {
    // The simulated phone is loaded with the first simulated number, because most servers have none.
    const { claimDevice } = await import('#simulated-phone/device-client.ts');
    const { ShortcutPhone } = await import('#simulated-phone/shortcut-phone.ts');
    const { PlausibleReplies } = await import('#simulated-phone/plausible-replies.ts');
    const server = reachable(address());
    const { deviceToken } = await claimDevice(`${server}/setup/${setupToken}`);
    const replies = new PlausibleReplies();
    const cancels = new Set<() => void>();
    const reply = (line: PhoneLine & { readonly did: 'sent' }) => {
      const text = replies.next({ ...line, hasFile: line.media !== undefined }, clock.elapsedMs());
      if (text === undefined) return;
      const cancel = clock.after(randomInt(replyMinMs, replyMaxMs), () => {
        cancels.delete(cancel);
        // The server refuses the reply if the number was deleted meanwhile; such an error is ignored.
        phone.receive({ from: line.to, text }).catch((error: unknown) => {
          logger.debug({ err: error }, 'the reply to a simulated iPhone was refused');
        });
      });
      cancels.add(cancel);
    };
    const phone = new ShortcutPhone({
      server,
      deviceToken,
      reportsDelivery: true,
      onLine: (line) => {
        if (line.did === 'sent') reply(line);
      },
    });
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

/** Replaces the wildcard address of a listener by the loopback address. */
function reachable(address: string): string {
  return address.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]');
}
