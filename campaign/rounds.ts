import { setTimeout as pause } from 'node:timers/promises';
import type { History } from './history.ts';
import type { Ownline } from './ownline.ts';

/** Targets of a kill besides the failpoints: the service at a random moment, and the database. */
export const fromOutside = 'from outside';
export const database = 'the database';

export interface KillPlan {
  readonly failpoints: readonly string[];
  readonly perPoint: number;
  readonly outside: number;
  readonly database: number;
}

/** Time in which a round has to reach its failpoint, and misses after which the failpoint is given up. */
const reachedWithinMs = 20_000;
const missesMax = 3;

/** Kills and restarts the service until every target had its kills. */
export class Rounds {
  /** Targets that were given up because the service did not reach them. */
  readonly unreached = new Set<string>();
  readonly #ownline: Ownline;
  readonly #history: History;
  readonly #misses = new Map<string, number>();

  constructor(ownline: Ownline, history: History) {
    this.#ownline = ownline;
    this.#history = history;
  }

  /** Runs rounds until every target of the plan had its kills. @param onKill is called after each kill */
  async run(plan: KillPlan, signal: AbortSignal, onKill: () => void): Promise<void> {
    await this.#ownline.kill();
    for (const point of shuffled(pointsOf(plan))) {
      let isKilled = false;
      while (!isKilled && !this.unreached.has(point)) {
        signal.throwIfAborted();
        isKilled = await this.#round(point);
      }
      if (isKilled) onKill();
    }
    await this.#ownline.start();
  }

  async #round(point: string): Promise<boolean> {
    if (point === fromOutside) return this.#killFromOutside();
    if (point === database) return this.#killDatabase();
    const misses = this.#misses.get(point) ?? 0;
    const pass = misses > 0 ? 1 : 1 + Math.floor(12 * Math.random());
    this.#ownline.launch(`${point}:${pass}`);
    const end = await Promise.race([this.#ownline.ended, pause(reachedWithinMs, 'missed' as const)]);
    if (end === 'missed') {
      await this.#missed(point, misses + 1);
      return false;
    }
    if (end !== 'SIGKILL') throw new Error(`Ownline ended with ${end}.\n${await this.#ownline.lastWords()}`);
    this.#history.record({ kind: 'process_killed', point });
    return true;
  }

  async #missed(point: string, misses: number): Promise<void> {
    this.#misses.set(point, misses);
    if (misses >= missesMax) this.unreached.add(point);
    await this.#ownline.kill();
    this.#history.record({ kind: 'process_killed', point: fromOutside });
  }

  /** Kills the service at a random moment; in one of four cases while it starts. */
  async #killFromOutside(): Promise<boolean> {
    this.#ownline.launch();
    if (Math.random() < 0.25) await pause(800 * Math.random());
    else if (await this.#ownline.untilReady()) await pause(1_500 * Math.random());
    if (!this.#ownline.isRunning)
      throw new Error(`Ownline ended by itself.\n${await this.#ownline.lastWords()}`);
    await this.#ownline.kill();
    this.#history.record({ kind: 'process_killed', point: fromOutside });
    return true;
  }

  /**
   * Kills the database and waits for the service to recover. The service is stopped afterwards, because the next round
   * starts it.
   */
  async #killDatabase(): Promise<boolean> {
    await this.#ownline.start();
    await pause(1_500 * Math.random());
    this.#history.record({ kind: 'process_killed', point: database });
    await this.#ownline.killDatabase();
    this.#history.record({ kind: 'process_killed', point: database });
    await this.#ownline.kill();
    return true;
  }
}

function pointsOf({ failpoints, perPoint, outside, database: ofDatabase }: KillPlan): string[] {
  const times = (count: number, point: string) => Array.from({ length: count }, () => point);
  return [
    ...failpoints.flatMap((point) => times(perPoint, point)),
    ...times(outside, fromOutside),
    ...times(ofDatabase, database),
  ];
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
