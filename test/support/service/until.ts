import { setTimeout as pause } from 'node:timers/promises';

/**
 * Repeats a probe until it returns a value. Tests wait for events, never for a length of time.
 * @param what is awaited, for the error message
 * @throws after a limit, which is generous so that a slow machine passes too
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 30_000,
): Promise<T> {
  const deadlineMs = performance.now() + limitMs;
  while (performance.now() < deadlineMs) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    await pause(20);
  }
  throw new Error(`This did not happen within ${limitMs} ms: ${what}`);
}
