import { setTimeout as pause } from 'node:timers/promises';
import { Api } from '../api.ts';
import type { Ownline } from '../ownline.ts';
import { createTeam } from '../set-up.ts';

/** A request each 500 ms is below the plan's 300 a minute, so every 429 is wrong. */
const probeMs = 500;

const limitOfFree = 60;

/** Two teams with known rate limits: one stays far below its limit, the other uses it up. */
export class Limits {
  readonly #steady: Api;
  readonly #greedy: Api;
  #wrong = 0;

  private constructor(steady: Api, greedy: Api) {
    this.#steady = steady;
    this.#greedy = greedy;
  }

  static async open(ownline: Ownline, over: AbortSignal): Promise<Limits> {
    const apiOf = async (name: string, plan: string) => {
      const { apiKey: key } = await createTeam(ownline, name, '--plan', plan);
      return new Api(ownline.baseUrl, { 'x-api-key': key }, over);
    };
    return new Limits(await apiOf('Steady', 'starter'), await apiOf('Greedy', 'free'));
  }

  get wrong(): number {
    return this.#wrong;
  }

  async probe(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { status } = await this.#steady.insist(request);
      if (status === 429) this.#wrong += 1;
      await pause(probeMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Uses up the rate limit of the greedy team. @throws where no request is refused */
  async useUp(): Promise<void> {
    for (let n = 0; n < 3 * limitOfFree; n += 1)
      if ((await this.#greedy.insist(request)).status === 429) return;
    throw new Error('The rate limit of the plan free was never reached.');
  }

  async isOpen(): Promise<boolean> {
    return (await this.#greedy.insist(request)).status === 200;
  }
}

const request = { method: 'GET', path: '/v1/team' } as const;
