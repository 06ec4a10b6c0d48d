import type { Clock } from './clock.ts';

/**
 * Lets the test that spawned this process move its clock, over the IPC channel. Without a channel, as in every ordinary
 * start, it does nothing.
 */
export function followTestClock(clock: Clock): void {
  if (!process.channel) return;
  process.on('message', (message) => {
    if (typeof message !== 'object' || message === null || !('advanceMs' in message)) return;
    if (typeof message.advanceMs !== 'number') return;
    clock.advance(message.advanceMs);
    process.send?.({ advancedMs: message.advanceMs });
  });
  // The IPC channel must not keep a finished process alive.
  process.channel.unref();
}
