import { setTimeout as pause } from 'node:timers/promises';
import { Api, itemsOf } from './api.ts';
import { feedReader } from './feed-reader.ts';
import type { History } from './history.ts';
import { Operator } from './operator.ts';
import { Phone } from './phone.ts';
import type { Mood, Receivers } from './receiver.ts';
import { converse } from './sender.ts';
import { claimDevice } from './set-up.ts';

export interface WebhookPlan {
  readonly path: string;
  readonly mood: Mood;
  readonly events: readonly string[];
  /** One of the team's numbers; null for all of them. */
  readonly number: string | null;
}

export interface TeamPlan {
  readonly apiKey: string;
  readonly numbers: readonly string[];
  readonly contacts: readonly string[];
  readonly webhooks: readonly WebhookPlan[];
  /** Whether the team's phones stop after their first poll, and senders outside of this class send for the team. */
  readonly isAway?: boolean;
}

/** How often clients act, on average. */
export interface Pace {
  /** The pause between an answer and the next message of a conversation. */
  readonly sendPauseMs: number;
  /** The pause between two texts that a phone receives. */
  readonly inboundMs: number;
  /** The pause of a phone after an answer that does not let it go on. */
  readonly phonePauseMs: number;
}

/** A pace of some 7 messages a second for each number. */
export const usualPace: Pace = { sendPauseMs: 250, inboundMs: 600, phonePauseMs: 100 };

export const usualContacts = ['+14155550150', '+14155550151'];

const quietWithinMs = 240_000;

/**
 * Waits until messages and deliveries of the teams are settled or time is up.
 * @returns the reason why work was left; undefined for none
 */
export async function untilQuiet(teams: readonly Team[], signal: AbortSignal): Promise<string | undefined> {
  const deadlineMs = performance.now() + quietWithinMs;
  for (const team of teams) {
    for (
      let unfinished = await team.findUnfinishedWork();
      unfinished;
      unfinished = await team.findUnfinishedWork()
    ) {
      if (performance.now() > deadlineMs) return unfinished;
      await pause(500, undefined, { signal });
    }
  }
  return undefined;
}

/** The clients of a team: phones, senders, webhook receivers and a feed reader. */
export class Team {
  readonly #history: History;
  readonly #baseUrl: string;
  readonly #plan: TeamPlan;
  readonly #pace: Pace;
  readonly #over: AbortSignal;
  readonly #api: Api;
  readonly operator: Operator;
  #id = '';
  #phones: readonly Phone[] = [];
  #mediaUrl = '';

  constructor(history: History, baseUrl: string, plan: TeamPlan, over: AbortSignal, pace: Pace) {
    this.#history = history;
    this.#baseUrl = baseUrl;
    this.#plan = plan;
    this.#pace = pace;
    this.#over = over;
    this.#api = new Api(baseUrl, { 'x-api-key': plan.apiKey }, over);
    this.operator = new Operator(this.#api);
  }

  get isAway(): boolean {
    return this.#plan.isAway === true;
  }

  get reader() {
    return feedReader(this.#history, this.#api, this.#id);
  }

  /** Sends from each number to each contact until the signal aborts. */
  send(signal: AbortSignal): Promise<void>[] {
    const [history, api, team, mediaUrl] = [this.#history, this.#api, this.#id, this.#mediaUrl];
    const shared = { history, api, team, mediaUrl, pauseMs: this.#pace.sendPauseMs };
    const { numbers, contacts } = this.#plan;
    return numbers.flatMap((from) => contacts.map((to) => converse({ ...shared, from, to }, signal)));
  }

  get phones(): readonly Phone[] {
    return this.#phones;
  }

  /** Connects the phones and creates the webhooks. No kill happens meanwhile. @param signal ends the phones */
  async open(receivers: Receivers, signal: AbortSignal): Promise<readonly Promise<void>[]> {
    this.#id = String((await this.#api.get('/v1/team')).id);
    this.#mediaUrl = receivers.fileUrl;
    this.#phones = await Promise.all(this.#plan.numbers.map((number) => this.#connect(number)));
    const polling = this.#phones.map((phone) => phone.poll(signal));
    while (!this.#phones.every((phone) => phone.isConnected)) await this.#api.again();
    this.#history.record({ kind: 'team_ready', team: this.#id, numbers: this.#plan.numbers });
    for (const webhook of this.#plan.webhooks) await this.#subscribe(receivers, webhook);
    return polling;
  }

  /**
   * Checks messages first, then phones, then deliveries, because each of these can still cause the next.
   * @returns the reason why the team has work left; undefined for none
   */
  async findUnfinishedWork(): Promise<string | undefined> {
    const operator = this.operator;
    return (
      (await operator.unfinishedMessages()) ??
      (this.#phones.every((phone) => phone.isAtRest) ? undefined : 'a phone has something to say') ??
      (await operator.unfinishedDeliveries())
    );
  }

  /**
   * Records the final state of the team's messages and deliveries. @param today the date of the run; undefined if
   * midnight passed
   */
  async recordFinalState(today: string | undefined): Promise<void> {
    for (let cursor = '', more = true; more; ) {
      const page = await this.#api.get(`/v1/messages?limit=100&cursor=${cursor}`);
      for (const item of itemsOf(page, 'messages')) this.#list(item);
      more = page.has_more === true;
      cursor = String(page.cursor);
    }
    if (today !== new Date().toISOString().slice(0, 10)) return;
    for (const number of itemsOf(await this.#api.get('/v1/numbers'), 'numbers')) {
      const messages_today = Number(number.messages_today);
      this.#history.record({ kind: 'number_counted', number: String(number.phone_number), messages_today });
    }
  }

  #list(item: Readonly<Record<string, unknown>>): void {
    const text = (field: string) => String(item[field]);
    this.#history.record({
      kind: 'message_listed',
      team: this.#id,
      message: text('id'),
      direction: text('direction'),
      status: text('status'),
      from: text('from'),
      to: text('to'),
      content: text('content'),
    });
  }

  async #connect(number: string): Promise<Phone> {
    const token = await claimDevice(this.#api, number);
    const api = new Api(this.#baseUrl, { 'x-device-token': token }, this.#over);
    return new Phone({ history: this.#history, api, number, over: this.#over, ...this.#pace });
  }

  async #subscribe(receivers: Receivers, { path, mood, events, number }: WebhookPlan): Promise<void> {
    const body = { url: receivers.urlOf(path), events, ...(number === null ? {} : { phone_number: number }) };
    const made = await this.#api.call({ method: 'POST', path: '/v1/webhooks', body });
    if (made.status !== 201)
      throw new Error(`The creation of a webhook was answered ${made.status}: ${made.text}`);
    const [webhook, secret] = [String(made.json.id), String(made.json.secret)];
    receivers.serve(path, { webhook, secret, mood });
    this.#history.record({ kind: 'webhook_created', team: this.#id, webhook, secret, events, number });
  }
}
