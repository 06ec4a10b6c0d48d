import { setTimeout as pause } from 'node:timers/promises';
import { Api } from '../api.ts';
import type { Ownline } from '../ownline.ts';
import { createTeam } from '../set-up.ts';

/** A request each 500 ms is below the plan's 300 a minute, so every 429 is wrong. */
const probeMs = 500;

const limitOfFree = 60;

const request = { method: 'GET', path: '/v1/team' } as const;

export type Limits = Awaited<ReturnType<typeof openLimits>>;

/** Makes two teams with known rate limits: one stays far below its limit, the other uses it up. */
export async function openLimits(ownline: Ownline, over: AbortSignal) {
  const statusOf = async (name: string, plan: string) => {
    const { apiKey } = await createTeam(ownline, name, '--plan', plan);
    const api = new Api(ownline.baseUrl, { 'x-api-key': apiKey }, over);
    return async () => (await api.insist(request)).status;
  };
  const [steady, greedy] = [await statusOf('Steady', 'starter'), await statusOf('Greedy', 'free')];
  let wrong = 0;
  return {
    /** The number of refusals of the team that stays below its limit. */
    wrong: () => wrong,
    probe: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        if ((await steady()) === 429) wrong += 1;
        await pause(probeMs, undefined, { signal }).catch(() => undefined);
      }
    },
    /** Uses up the rate limit of the greedy team. @throws if no request is refused */
    useUp: async (): Promise<void> => {
      for (let n = 0; n < 3 * limitOfFree; n += 1) if ((await greedy()) === 429) return;
      throw new Error('The rate limit of the plan free was never reached.');
    },
    isOpen: async () => (await greedy()) === 200,
  };
}
