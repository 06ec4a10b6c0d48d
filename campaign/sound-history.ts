import { randomBytes } from 'node:crypto';
import type { Entry, Envelope, ReportedOutcome, Row } from './history.ts';
import { signedHeaders } from './signature.ts';

const everything = ['message.received', 'message.sent', 'message.delivered', 'message.failed'];
const contact = '+14155550199';

interface Made {
  readonly message: string;
  readonly team: string;
  readonly number: string;
  readonly direction: 'outbound' | 'inbound';
  readonly content: string;
  events: number;
  status: string;
}

/** A made-up history without faults: two teams, three numbers, three webhooks and some kills. */
export function soundHistory(): Row[] {
  const story = new Story();
  for (const [team, number] of story.numbers) {
    for (let round = 0; round < 4; round += 1) {
      story.send(team, number, ['sent'], round === 1);
      story.send(team, number, ['sent', 'delivered']);
      story.send(team, number, ['failed']);
      story.send(team, number, []);
      story.receive(team, number);
    }
    story.interrupt(team, number);
  }
  story.kill();
  return story.end();
}

class Story {
  readonly numbers = [
    ['team_a', '+14155550101'],
    ['team_a', '+14155550102'],
    ['team_b', '+14155550103'],
  ] as const;
  readonly #webhooks = [
    { team: 'team_a', webhook: 'wh_all', events: everything, number: null },
    {
      team: 'team_a',
      webhook: 'wh_some',
      events: ['message.sent', 'message.failed'],
      number: '+14155550101',
    },
    { team: 'team_b', webhook: 'wh_other', events: everything, number: null },
  ].map((webhook) => ({ ...webhook, secret: `whsec_${randomBytes(32).toString('base64')}` }));
  readonly #rows: Row[] = [];
  readonly #made: Made[] = [];
  readonly #feed = new Map<string, Envelope[]>();
  #atMs = Date.parse('2026-11-21T10:00:00Z');
  #serial = 0;

  constructor() {
    for (const team of ['team_a', 'team_b'])
      this.#record({
        kind: 'team_ready',
        team,
        numbers: this.numbers.flatMap(([of, n]) => (of === team ? [n] : [])),
      });
    for (const webhook of this.#webhooks) this.#record({ kind: 'webhook_created', ...webhook });
  }

  /** Adds a message from its sender to its phone, and the phone's reports. `repeats` repeats the send. */
  send(team: string, number: string, words: readonly ReportedOutcome[], repeats = false): void {
    const made = this.#accept(team, number, repeats ? 2 : 1);
    const { message, content } = made;
    if (words.length === 0) this.#happen(made, 'failed', { error_code: 'device_timeout' });
    else this.#record({ kind: 'handed_out', number, message, to: contact, text: content });
    for (const outcome of words) {
      this.#record({ kind: 'report_sent', number, message, outcome });
      this.#record({ kind: 'report_accepted', number, message, outcome });
      this.#happen(made, outcome, outcome === 'failed' ? { error_code: 'device_error' } : {});
    }
  }

  /** Adds a message whose file was not fetched, because the service was killed in each try. */
  interrupt(team: string, number: string): void {
    const media_url = 'https://example.com/file.jpg';
    const created_at = new Date(this.#atMs).toISOString();
    const made = this.#accept(team, number, 1, media_url);
    for (let tries = 0; tries < 3; tries += 1)
      this.#record({ kind: 'process_killed', point: 'media arriving' });
    const failed_at = new Date(this.#atMs).toISOString();
    this.#happen(made, 'failed', { error_code: 'media_unavailable', media_url, created_at, failed_at });
  }

  #accept(team: string, number: string, times: number, media?: string): Made {
    const { key, message, content } = this.#names();
    const file = media === undefined ? {} : { media };
    for (let time = 0; time < times; time += 1) {
      this.#record({ kind: 'send_requested', team, key, from: number, to: contact, content, ...file });
      this.#record({ kind: 'send_accepted', team, key, message });
    }
    const made: Made = { message, team, number, direction: 'outbound', content, events: 0, status: 'queued' };
    this.#made.push(made);
    return made;
  }

  /** Adds an inbound text that the phone passes on twice, as a shortcut with two automations does. */
  receive(team: string, number: string): void {
    const { key, message, content } = this.#names();
    for (let time = 0; time < 2; time += 1) {
      this.#record({ kind: 'inbound_sent', number, text_id: key, from: contact, text: content });
      this.#record({ kind: 'inbound_accepted', number, text_id: key, message });
    }
    const made: Made = {
      message,
      team,
      number,
      direction: 'inbound',
      content,
      events: 0,
      status: 'received',
    };
    this.#made.push(made);
    this.#happen(made, 'received', {});
  }

  /** Adds a kill right after a receiver's answer, so that the delivery is repeated. */
  kill(): void {
    const taken = this.#rows.findLast((row) => row.kind === 'delivery_received');
    this.#record({ kind: 'process_killed', point: 'answered' });
    if (taken?.kind === 'delivery_received') this.#deliver(taken.webhook, taken.headers, taken.body, 200);
  }

  end(): Row[] {
    for (const [team, events] of this.#feed)
      this.#record({ kind: 'feed_read', team, reader: 'walker', events });
    for (const made of this.#made) {
      const { message, team, direction, status, number, content } = made;
      const [from, to] = direction === 'outbound' ? [number, contact] : [contact, number];
      this.#record({ kind: 'message_listed', team, message, direction, status, from, to, content });
    }
    for (const [, number] of this.numbers) {
      const messages_today = this.#made.filter((made) => made.number === number).length;
      this.#record({ kind: 'number_counted', number, messages_today });
    }
    return this.#rows;
  }

  #names() {
    this.#serial += 1;
    const name = String(this.#serial).padStart(4, '0');
    return { key: `key-${name}`, message: `msg_${name}`, content: `Text ${name} "’\u2028🎈` };
  }

  #record(entry: Entry): void {
    this.#atMs += 7;
    this.#rows.push({ at: this.#atMs, ...entry });
  }

  /** Adds a change: its event, a feed page, and deliveries, of which every third needs two attempts. */
  #happen(made: Made, status: string, more: Envelope): void {
    const { message, team, number, content } = made;
    made.events += 1;
    made.status = status;
    const [from, to] = made.direction === 'outbound' ? [number, contact] : [contact, number];
    const id = `evt_${message.slice(4)}${made.events}`;
    const type = `message.${status}`;
    const shown = made.direction === 'outbound' ? { status } : {};
    const data = { id: message, from, to, content, media_url: null, ...shown, ...more };
    const timestamp = new Date(this.#atMs).toISOString();
    const envelope = { id, type, timestamp, data, team_id: team, api_version: 'v1', sequence: made.events };
    this.#feed.set(team, [...(this.#feed.get(team) ?? []), envelope]);
    this.#record({ kind: 'feed_read', team, reader: 'follower', events: [envelope] });
    const body = Buffer.from(JSON.stringify(envelope));
    for (const { webhook, secret, ...asks } of this.#webhooks) {
      const isOwed = asks.team === team && asks.events.includes(type) && [null, number].includes(asks.number);
      if (!isOwed) continue;
      const headers = signedHeaders(secret, id, type, body, this.#atMs);
      if (this.#serial % 3 === 0) this.#deliver(webhook, headers, body.toString('base64'), 500);
      this.#deliver(webhook, headers, body.toString('base64'), 200);
    }
  }

  #deliver(webhook: string, headers: Readonly<Record<string, string>>, body: string, status: number): void {
    const request = this.#rows.length;
    this.#record({ kind: 'delivery_received', request, webhook, headers, body });
    this.#record({ kind: 'delivery_answered', request, webhook, status });
  }
}
