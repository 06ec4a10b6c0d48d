import { setTimeout as pause } from 'node:timers/promises';

/**
 * Signs in with wrong passwords at a constant rate, each time from another address and to another account.
 * @returns `stop`, which tells how many were refused after the password was hashed, and how many ended in another way
 */
export function signInAtRate(origin: string, perSecond: number) {
  let isOver = false;
  let hashed = 0;
  let others = 0;
  const asked = new Set<Promise<void>>();
  const ask = async (n: number) => {
    const response = await fetch(`${origin}/sign-in`, {
      method: 'POST',
      headers: {
        'sec-fetch-site': 'same-origin',
        'x-forwarded-for': `198.51.${100 + (n >> 8)}.${n & 255}`,
      },
      body: new URLSearchParams({ email: `person-${n}@example.com`, password: 'not the right password' }),
    }).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 401) hashed += 1;
    else others += 1;
  };
  const running = (async () => {
    const started = performance.now();
    for (let n = 0; !isOver; n += 1) {
      const asking = ask(n).finally(() => asked.delete(asking));
      asked.add(asking);
      await pause(Math.max(0, started + ((n + 1) * 1_000) / perSecond - performance.now()));
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await running;
      return { hashed, others: others + asked.size };
    },
  };
}
