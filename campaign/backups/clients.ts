import { eventTypes, type History } from '../history.ts';
import type { Ownline } from '../ownline.ts';
import { Receivers } from '../receiver.ts';
import { createTeam } from '../set-up.ts';
import { Team, untilQuiet, usualContacts, usualPace } from '../team.ts';
import { Flood } from './flood.ts';

const floodNumbers = Array.from({ length: 8 }, (_, index) => `+1415555011${index}`);
const floodContacts = Array.from({ length: 4 }, (_, index) => `+1415555016${index}`);

/**
 * The clients of the service, which outlive each restore because its address stays the same. One team has phones,
 * senders and webhooks; another one floods the service. The flood's phones take no message before `takeFlood`.
 */
export class Clients {
  readonly flood: Flood;
  readonly #usual: Team;
  readonly #flooding: Team;
  readonly #receivers: Receivers;
  readonly #senders;
  readonly #over: AbortController;
  readonly #rest = new AbortController();
  readonly #running: Promise<void>[] = [];
  #traffic = new AbortController();
  #trafficEnds: Promise<void>[] = [];
  #reading = new AbortController();
  #readers: Promise<void>[] = [];

  private constructor(
    teams: { readonly usual: Team; readonly flooding: Team },
    receivers: Receivers,
    flood: Flood,
    over: AbortController,
  ) {
    this.#usual = teams.usual;
    this.#flooding = teams.flooding;
    this.#senders = teams.usual.senders;
    this.#receivers = receivers;
    this.flood = flood;
    this.#over = over;
  }

  /** @param signal ends all clients */
  static async open(history: History, ownline: Ownline, signal: AbortSignal): Promise<Clients> {
    const over = new AbortController();
    signal.addEventListener('abort', () => over.abort(signal.reason), { once: true });
    const receivers = new Receivers(history);
    await receivers.listen();
    const made = await createTeam(ownline, 'Flood');
    const [one, two] = ['+14155550101', '+14155550102'];
    const all = { events: eventTypes, number: null };
    const usualPlan = {
      apiKey: await ownline.firstKey(),
      numbers: [one, two],
      contacts: usualContacts,
      webhooks: [
        { path: 'fine', mood: 'fine', ...all },
        { path: 'flaky', mood: 'flaky', ...all },
        { path: 'slow', mood: 'slow', events: ['message.sent', 'message.failed'], number: one },
      ],
    } as const;
    const floodPlan = {
      apiKey: made.apiKey,
      numbers: floodNumbers,
      contacts: floodContacts,
      webhooks: [],
    };
    const usual = new Team(history, ownline.baseUrl, usualPlan, over.signal, usualPace);
    const flooding = new Team(history, ownline.baseUrl, floodPlan, over.signal, usualPace);
    const rest = new AbortController();
    const connected = new AbortController();
    try {
      const polls = await usual.open(receivers, rest.signal);
      const floodPolls = await flooding.open(receivers, connected.signal);
      connected.abort();
      await Promise.all(floodPolls);
      const flood = new Flood({
        ...{ history, baseUrl: ownline.baseUrl, ...made },
        ...{ numbers: floodNumbers, contacts: floodContacts },
      });
      const clients = new Clients({ usual, flooding }, receivers, flood, over);
      clients.#rest.signal.addEventListener('abort', () => rest.abort(), { once: true });
      clients.#watch(clients.#running, polls);
      return clients;
    } catch (error) {
      over.abort();
      await receivers.close();
      throw error;
    }
  }

  /** A signal that aborts with the reason once a client fails. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Starts the senders of the first team and the inbound texts of its phones. */
  begin(): void {
    this.#traffic = new AbortController();
    const { signal } = this.#traffic;
    this.#trafficEnds = [];
    this.#watch(this.#trafficEnds, [
      ...this.#senders.map((sender) => sender.run(signal)),
      ...this.#usual.phones.map((phone) => phone.receive(signal)),
      this.#usual.operator.run(signal),
    ]);
  }

  read(): void {
    this.#reading = new AbortController();
    this.#readers = [];
    const readers = [this.#usual, this.#flooding].map((team) => team.reader.follow(this.#reading.signal));
    this.#watch(this.#readers, readers);
  }

  async endReading(): Promise<void> {
    this.#reading.abort();
    await Promise.all(this.#readers);
  }

  takeFlood(): void {
    const { signal } = this.#rest;
    this.#watch(
      this.#running,
      this.#flooding.phones.map((phone) => phone.poll(signal)),
    );
  }

  /**
   * Stops the traffic, waits until messages and deliveries are settled or time is up, and records the final state.
   * @returns the reason why work was left; undefined for none
   */
  async settle(): Promise<string | undefined> {
    this.#traffic.abort();
    await Promise.all(this.#trafficEnds);
    const unfinished = await untilQuiet([this.#usual, this.#flooding], this.signal);
    const day = new Date().toISOString().slice(0, 10);
    for (const team of [this.#usual, this.#flooding]) await team.reader.walk();
    await this.endReading();
    for (const team of [this.#usual, this.#flooding]) await team.recordFinalState(day);
    return unfinished;
  }

  async close(): Promise<void> {
    this.#over.abort();
    for (const part of [this.#rest, this.#traffic, this.#reading]) part.abort();
    await Promise.allSettled([...this.#running, ...this.#trafficEnds, ...this.#readers]);
    await this.#receivers.close();
  }

  #watch(kept: Promise<void>[], actors: readonly Promise<void>[]): void {
    for (const actor of actors) actor.catch((error: unknown) => this.#over.abort(error));
    kept.push(...actors);
  }
}
