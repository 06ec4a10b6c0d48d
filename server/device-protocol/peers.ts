import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { idsOf, peersChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Runner } from '#server/database/slice.ts';
import { peersAnswerMs } from './limits.ts';

/**
 * Peers: the other processes that serve polls. They answer each other over NOTIFY, so a process that was killed never
 * counts. A process without peers sends one notification at its start and none at its stop.
 */
export class Peers implements Runner {
  readonly loops = [];
  readonly #database: Runtime['database'];
  readonly #id = randomUUID();
  #isStopping = false;
  #isAnyHeard = false;
  #heard = Promise.withResolvers<void>();

  constructor({ database }: Pick<Runtime, 'database'>) {
    this.#database = database;
  }

  /** True if a peer answered after this process began to stop. */
  get serve(): boolean {
    return this.#isStopping && this.#isAnyHeard;
  }

  start(): void {
    this.#say('begins');
  }

  notify(payload = ''): void {
    const words = idsOf(payload);
    if (words) for (const word of words) this.#hear(word);
    else this.#say('begins');
  }

  /** Asks whether a peer will serve the polls that this process held. */
  async stop(): Promise<void> {
    const mayHavePeers = this.#isAnyHeard;
    this.#isAnyHeard = false;
    this.#heard = Promise.withResolvers();
    if (mayHavePeers) this.#say('ends');
    this.#isStopping = true;
    if (mayHavePeers)
      await Promise.race([this.#heard.promise, pause(peersAnswerMs, undefined, { ref: false })]);
  }

  #hear(word: string): void {
    const [said, id] = word.split(' ');
    if (id === this.#id) return;
    // The peers that remain answer, and every process hears them.
    this.#isAnyHeard = said !== 'ends';
    if (said !== 'ends') this.#heard.resolve();
    if (said !== 'serves') this.#say('serves');
  }

  #say(word: 'begins' | 'serves' | 'ends'): void {
    if (!this.#isStopping) this.#database.notify(peersChannel, [`${word} ${this.#id}`]);
  }
}
