import { eventTypes, type History } from './history.ts';
import type { Ownline } from './ownline.ts';
import { Receivers } from './receiver.ts';
import { createTeam } from './set-up.ts';
import { type Pace, Team, untilQuiet, usualContacts, usualPace } from './team.ts';

/** The service under test, as one process or as several behind one address. */
export type Installation = Pick<Ownline, 'baseUrl' | 'command' | 'firstKey'>;

/** The clients of the service: two teams with phones, senders and readers, and the webhook receivers. */
export class World {
  readonly #teams: readonly Team[];
  readonly #receivers: Receivers;
  readonly #day = new Date().toISOString().slice(0, 10);
  readonly #traffic = new AbortController();
  readonly #rest = new AbortController();
  readonly #over: AbortController;
  readonly #ends: Promise<void>[] = [];
  readonly #lasting: Promise<void>[] = [];

  private constructor(teams: readonly Team[], receivers: Receivers, over: AbortController) {
    this.#teams = teams;
    this.#over = over;
    this.#receivers = receivers;
  }

  /** Creates the teams after the service's first start. @param signal ends the clients, even while they are created */
  static async open(
    history: History,
    ownline: Installation,
    signal: AbortSignal,
    pace: Pace = usualPace,
  ): Promise<World> {
    signal.throwIfAborted();
    const over = new AbortController();
    signal.addEventListener('abort', () => over.abort(signal.reason), { once: true });
    const receivers = new Receivers(history);
    await receivers.listen();
    const other = await createTeam(ownline, 'Other team');
    const [one, two, three] = ['+14155550101', '+14155550102', '+14155550103'] as const;
    const all = { events: eventTypes, number: null };
    const plans = [
      {
        apiKey: await ownline.firstKey(),
        numbers: [one, two],
        contacts: usualContacts,
        webhooks: [
          { path: 'fine', mood: 'fine', ...all },
          { path: 'flaky', mood: 'flaky', ...all },
          { path: 'outages', mood: 'outages', ...all },
          { path: 'some', mood: 'fine', events: ['message.sent', 'message.failed'], number: one },
        ],
      },
      {
        apiKey: other.apiKey,
        numbers: [three],
        contacts: usualContacts,
        webhooks: [
          { path: 'slow', mood: 'slow', ...all },
          { path: 'inbound', mood: 'flaky', events: ['message.received'], number: null },
        ],
      },
    ] as const;
    const teams = plans.map((plan) => new Team(history, ownline.baseUrl, plan, over.signal, pace));
    const world = new World(teams, receivers, over);
    try {
      for (const team of teams) world.#lasting.push(...(await team.open(receivers, world.#rest.signal)));
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  begin(): void {
    for (const team of this.#teams) {
      this.#ends.push(...team.senders.map((sender) => sender.run(this.#traffic.signal)));
      this.#ends.push(...team.phones.map((phone) => phone.receive(this.#traffic.signal)));
      this.#ends.push(team.operator.run(this.#traffic.signal));
      this.#lasting.push(team.reader.follow(this.#rest.signal));
    }
    for (const actor of [...this.#ends, ...this.#lasting])
      actor.catch((error: unknown) => this.#over.abort(error));
  }

  /** A signal that aborts with the reason once a client fails. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /**
   * Stops the senders and lets all receivers answer 200. Once all work is settled or time is up, it reads the feed and
   * records the final state.
   * @returns the reason why work was left; undefined for none
   */
  async settle(): Promise<string | undefined> {
    this.#traffic.abort();
    await Promise.all(this.#ends);
    this.#receivers.heal();
    const unfinished = await untilQuiet(this.#teams, this.signal);
    for (const team of this.#teams) await team.reader.walk();
    this.#rest.abort();
    await Promise.all(this.#lasting);
    for (const team of this.#teams) await team.recordFinalState(this.#day);
    return unfinished;
  }

  async close(): Promise<void> {
    this.#over.abort();
    this.#traffic.abort();
    this.#rest.abort();
    await Promise.allSettled([...this.#ends, ...this.#lasting]);
    await this.#receivers.close();
  }
}
