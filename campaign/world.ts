import { eventTypes, type History } from './history.ts';
import type { Ownline } from './ownline.ts';
import { Receivers } from './receiver.ts';
import { createTeam } from './set-up.ts';
import { type Pace, Team, type TeamPlan, untilQuiet, usualContacts, usualPace } from './team.ts';

/** The service under test, as one process or as several behind one address. */
export type Installation = Pick<Ownline, 'baseUrl' | 'command' | 'firstKey'>;

const [one, two, three] = ['+14155550101', '+14155550102', '+14155550103'] as const;
const all = { events: eventTypes, number: null };
export const someEvents = { events: ['message.sent', 'message.failed'], number: one };

/** The team of the first start. @param more its webhooks besides two of all events */
export async function firstTeam(ownline: Installation, more: TeamPlan['webhooks']): Promise<TeamPlan> {
  const webhooks: TeamPlan['webhooks'] = [
    { path: 'fine', mood: 'fine', ...all },
    { path: 'flaky', mood: 'flaky', ...all },
  ];
  const apiKey = await ownline.firstKey();
  return { apiKey, numbers: [one, two], contacts: usualContacts, webhooks: [...webhooks, ...more] };
}

/** The two teams of a usual run. */
export async function usualTeams(ownline: Installation): Promise<TeamPlan[]> {
  const { apiKey } = await createTeam(ownline, 'Other team');
  const webhooks: TeamPlan['webhooks'] = [
    { path: 'slow', mood: 'slow', ...all },
    { path: 'inbound', mood: 'flaky', events: ['message.received'], number: null },
  ];
  return [
    await firstTeam(ownline, [
      { path: 'outages', mood: 'outages', ...all },
      { path: 'some', mood: 'fine', ...someEvents },
    ]),
    { apiKey, numbers: [three], contacts: usualContacts, webhooks },
  ];
}

/** The clients of the service: teams with phones, senders and readers of the feed, and the webhook receivers. */
export class World {
  readonly #teams: readonly Team[];
  readonly #receivers: Receivers;
  readonly #day = new Date().toISOString().slice(0, 10);
  readonly #over: AbortController;
  readonly #traffic: Actors;
  readonly #readers: Actors;
  readonly #phones: Actors;

  private constructor(teams: readonly Team[], receivers: Receivers, over: AbortController) {
    this.#teams = teams;
    this.#receivers = receivers;
    this.#over = over;
    [this.#traffic, this.#readers, this.#phones] = [new Actors(over), new Actors(over), new Actors(over)];
  }

  /** Opens the teams after the service's first start. @param signal ends the clients, even while they are created */
  static async open(
    history: History,
    { baseUrl }: Installation,
    plans: readonly TeamPlan[],
    signal: AbortSignal,
    pace: Pace = usualPace,
  ): Promise<World> {
    signal.throwIfAborted();
    const over = new AbortController();
    signal.addEventListener('abort', () => over.abort(signal.reason), { once: true });
    const receivers = new Receivers(history);
    await receivers.listen();
    const teams = plans.map((plan) => new Team(history, baseUrl, plan, over.signal, pace));
    const world = new World(teams, receivers, over);
    try {
      for (const team of teams) {
        const connected = new AbortController();
        const { signal: rest } = team.isAway ? connected : world.#phones;
        world.#phones.add(await team.open(receivers, rest));
        connected.abort();
      }
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  /** Starts the senders, the inbound texts of phones, and the people of the teams. */
  begin(): void {
    this.#receivers.isHealed = false;
    const { signal } = this.#traffic;
    for (const team of this.#teams.filter(({ isAway }) => !isAway)) {
      this.#traffic.add(team.send(signal));
      this.#traffic.add(team.phones.map((phone) => phone.receive(signal)));
      this.#traffic.add([team.operator.run(signal)]);
    }
  }

  /** Starts to follow the feed of each team, from its oldest event. */
  read(): void {
    const { signal } = this.#readers;
    this.#readers.add(this.#teams.map((team) => team.reader.follow(signal)));
  }

  endReading(): Promise<void> {
    return this.#readers.stop();
  }

  /** Lets the phones of teams that were away poll again. */
  bringBack(): void {
    const phones = this.#teams.filter(({ isAway }) => isAway).flatMap((team) => team.phones);
    this.#phones.add(phones.map((phone) => phone.poll(this.#phones.signal)));
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
    await this.#traffic.stop();
    this.#receivers.isHealed = true;
    const unfinished = await untilQuiet(this.#teams, this.signal);
    for (const team of this.#teams) await team.reader.walk();
    await this.endReading();
    for (const team of this.#teams) await team.recordFinalState(this.#day);
    return unfinished;
  }

  async close(): Promise<void> {
    this.#over.abort();
    await Promise.allSettled([this.#traffic, this.#readers, this.#phones].map((actors) => actors.stop()));
    await this.#receivers.close();
  }
}

/** Clients that run until they are stopped. */
class Actors {
  readonly #over: AbortController;
  #ending = new AbortController();
  #running: Promise<void>[] = [];

  /** @param over is aborted with the reason once a client fails */
  constructor(over: AbortController) {
    this.#over = over;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  add(running: readonly Promise<void>[]): void {
    for (const actor of running) actor.catch((error: unknown) => this.#over.abort(error));
    this.#running.push(...running);
  }

  /** Waits until all have ended. More may be added afterwards. */
  async stop(): Promise<void> {
    this.#ending.abort();
    const ended = this.#running;
    [this.#ending, this.#running] = [new AbortController(), []];
    await Promise.all(ended);
  }
}
