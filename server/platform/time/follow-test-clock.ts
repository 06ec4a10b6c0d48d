import type { Clock } from './clock.ts';

/**
 * Lets a test that spawned this process move its clock, over the IPC channel of its parent. Without such a channel
 * (every ordinary start) this does nothing.
 */
export function followTestClock(clock: Clock): void {
  if (!process.channel) return;
  process.on('message', (message) => {
    if (typeof message !== 'object' || message === null || !('advanceMs' in message)) return;
    if (typeof message.advanceMs !== 'number') return;
    clock.advance(message.advanceMs);
    process.send?.({ advancedMs: message.advanceMs });
  });
  // The channel alone must not keep a finished process alive.
  process.channel.unref();
}
