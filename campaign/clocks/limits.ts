import { setTimeout as pause } from 'node:timers/promises';
import { Api } from '../api.ts';
import type { Ownline } from '../ownline.ts';
import { newTeam } from './keeper.ts';

/** Below the 300 a minute of its plan: every 429 is wrong. */
const probeMs = 500;

/** The plan free allows 60 requests a minute. */
const limitOfFree = 60;

/** Two teams of which the rate limits are known: one stays far below its own, one uses it up. */
export class Limits {
  readonly #steady: Api;
  readonly #greedy: Api;
  #wrong = 0;

  private constructor(steady: Api, greedy: Api) {
    this.#steady = steady;
    this.#greedy = greedy;
  }

  static async open(ownline: Ownline, over: AbortSignal): Promise<Limits> {
    const apis: Api[] = [];
    for (const [name, plan] of [
      ['Steady', 'starter'],
      ['Greedy', 'free'],
    ] as const) {
      const { key } = await newTeam(ownline, name, plan);
      apis.push(new Api(ownline.baseUrl, { 'x-api-key': key }, over));
    }
    const [steady, greedy] = apis;
    if (!steady || !greedy) throw new Error('A team is missing.');
    return new Limits(steady, greedy);
  }

  /** How often the steady team was refused so far. */
  get wrong(): number {
    return this.#wrong;
  }

  /** Asks for the steady team until the signal. */
  async probe(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { status } = await this.#steady.insist(request);
      if (status === 429) this.#wrong += 1;
      await pause(probeMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Uses the limit of the greedy team up. @throws where it was not refused in the end */
  async useUp(): Promise<void> {
    for (let n = 0; n < 3 * limitOfFree; n += 1)
      if ((await this.#greedy.insist(request)).status === 429) return;
    throw new Error('The limit of the plan free does not end.');
  }

  /** Whether the greedy team is let through. */
  async isOpen(): Promise<boolean> {
    return (await this.#greedy.insist(request)).status === 200;
  }
}

const request = { method: 'GET', path: '/v1/team' } as const;
