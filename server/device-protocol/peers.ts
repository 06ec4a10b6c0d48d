import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { idsOf, peersChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Runner } from '#server/database/slice.ts';
import { Loop } from '#server/platform/concurrency/loop.ts';
import { peersAnswerMs, peersBeatMs, silentBeatsMax } from './limits.ts';

/** `serves` and `waits` answer `begins` and `ends`. A process that `waits` has not claimed messages yet. */
type Word = 'begins' | 'serves' | 'waits' | 'ends';

/**
 * Peers: the other processes that serve polls. They answer each other over NOTIFY, so a process that was killed never
 * counts at a stop. A process without peers sends some notifications at its start and none at its stop.
 */
export class Peers implements Runner {
  readonly id: string = randomUUID();
  readonly #database: Runtime['database'];
  readonly #loop: Loop;
  /** The peers that claim messages, with the beats since each was heard. */
  readonly #claiming = new Map<string, number>();
  #isStopping = false;
  #isAnyHeard = false;
  #isOwnWordHeard = false;
  /** Beats since any peer was heard. */
  #silentBeats = 0;
  #heard = Promise.withResolvers<void>();

  constructor({ database, logger }: Pick<Runtime, 'database' | 'logger'>) {
    this.#database = database;
    this.#loop = new Loop({
      name: 'keep in touch with other processes',
      intervalMs: peersBeatMs,
      logger,
      run: async () => this.#beat(),
    });
  }

  get loops(): readonly Loop[] {
    return this.#loop.loops;
  }

  /** True if a peer answered after this process began to stop. */
  get serve(): boolean {
    return this.#isStopping && this.#isAnyHeard;
  }

  /** The peers that claimed messages until a short while ago, also if one has ended since. */
  get claiming(): readonly string[] {
    return [...this.#claiming.keys()];
  }

  start(): Promise<void> {
    this.#say('begins');
    return this.#loop.start();
  }

  notify(payload = ''): void {
    const words = idsOf(payload);
    if (words) for (const word of words) this.#hear(word);
    else this.#say('begins');
  }

  /** Says whether this process claims messages. */
  announce(): void {
    this.#say(this.#database.timeline.checked > 0 ? 'serves' : 'waits');
  }

  /** Asks whether a peer will serve the polls that this process held. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    const mayHavePeers = this.#isAnyHeard;
    this.#isAnyHeard = false;
    this.#heard = Promise.withResolvers();
    if (mayHavePeers) this.#say('ends');
    this.#isStopping = true;
    if (mayHavePeers)
      await Promise.race([this.#heard.promise, pause(peersAnswerMs, undefined, { ref: false })]);
  }

  /** Forgets a peer that stays silent while this process hears itself. While the database is away, no process is heard. */
  #beat(): void {
    if (this.#isOwnWordHeard) {
      this.#silentBeats += 1;
      if (this.#silentBeats > silentBeatsMax) this.#isAnyHeard = false;
      for (const [id, beats] of this.#claiming)
        if (beats < silentBeatsMax) this.#claiming.set(id, beats + 1);
        else this.#claiming.delete(id);
    }
    this.#isOwnWordHeard = false;
    this.#count();
    if (this.#isAnyHeard || this.#claiming.size > 0) this.announce();
  }

  #hear(word: string): void {
    const [said, id = ''] = word.split(' ');
    if (id === this.id) {
      this.#isOwnWordHeard = true;
      return;
    }
    this.#silentBeats = 0;
    if (said === 'serves') this.#claiming.set(id, 0);
    this.#count();
    // The peers that remain answer, and every process hears them.
    this.#isAnyHeard = said !== 'ends';
    if (said !== 'ends') this.#heard.resolve();
    if (said === 'begins' || said === 'ends') this.announce();
  }

  #count(): void {
    this.#database.processes = 1 + this.#claiming.size;
  }

  #say(word: Word): void {
    if (!this.#isStopping) this.#database.notify(peersChannel, [`${word} ${this.id}`]);
  }
}
