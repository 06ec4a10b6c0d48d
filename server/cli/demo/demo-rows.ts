import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EventType } from '#contract/event.ts';
import { anyText, inboundTests } from '#server/devices/inbound-tests.ts';
import { type Id, type IdPrefix, Ids, typeIdOfUuid } from '#server/platform/ids.ts';
import { demoDomain } from '#server/platform/mail-address.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { shortcutVersion } from '#shortcut/connection.ts';

/** A text of a demo. `outcome` is the status in which it ends, or the error code of its failure. */
export type DemoText = ReturnType<typeof readDemoTexts>[number];

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * Reads the texts of a demo, in the order of their times. A conversation in texts.txt is a block. Its first row has
 * number, contact and beginning, `unread` or `waiting` if it waits for the team, and the name of the contact. Each other row has the minutes since the previous text, the author and the words. A
 * contact of two digits stands for `+1 415 555 01` and these digits. `:outcome` and `+file` may follow the author;
 * without an outcome a text of the team is delivered. `{+2}` stands for the weekday two days after the text; a day of a
 * weekend becomes Monday.
 */
export function readDemoTexts(nowMs: number) {
  const blocks = readFileSync(new URL('texts.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n\n');
  const texts = blocks.flatMap((block) => {
    const [head = '', ...rows] = block.split('\n');
    const [, number = '', contact = '', begins = '', waiting, name] =
      /^(\w+) (\S+) (\d+m|\d+d \S+)(?: (unread|waiting))?(?: "(.+)")?$/.exec(head) ?? [];
    let atMs = momentOf(begins, nowMs);
    return rows.map((row) => {
      const [, after, by = '', outcome, file, words = ''] =
        /^([\d.]+) (\w+)(?::(\w+))?(\+file)? (.+)$/.exec(row) ?? [];
      atMs += Number(after) * minuteMs;
      return {
        number,
        contact: contact.includes('@') ? contact : `+141555501${contact}`,
        atMs,
        name,
        isUnread: waiting === 'unread',
        isWaiting: waiting !== undefined,
        by,
        outcome: outcome ?? (by === 'contact' ? 'received' : 'delivered'),
        hasFile: file !== undefined,
        content: nameWeekdays(words, atMs),
      };
    });
  });
  return texts.sort((one, other) => one.atMs - other.atMs);
}

/**
 * The time of `3d 09:12`, three days ago in the server's time zone, or of `45m`, 45 minutes ago.
 * @throws Error for any other text
 */
export function momentOf(text: string, nowMs: number): number {
  const [, minutes, days, hour, minute, second = 0] =
    /^(?:([\d.]+)m|(-?\d+)d (\d\d):(\d\d)(?::(\d\d))?)$/.exec(text) ?? [];
  if (minutes !== undefined) return nowMs - Number(minutes) * minuteMs;
  if (days === undefined) throw new Error(`the demo has "${text}" in place of a moment`);
  const now = new Date(nowMs);
  const day = now.getDate() - Number(days);
  return new Date(
    now.getFullYear(),
    now.getMonth(),
    day,
    Number(hour),
    Number(minute),
    Number(second),
  ).getTime();
}

const weekday = new Intl.DateTimeFormat('en', { weekday: 'long' });

/**
 * Replaces each `{+2}` by the name of a weekday. A day of a weekend, when the demo's practice is closed, becomes the
 * next Monday.
 */
function nameWeekdays(text: string, atMs: number): string {
  return text.replaceAll(/\{\+(\d+)\}/g, (_, days) => {
    const thenMs = atMs + Number(days) * dayMs;
    return [0, 6].includes(new Date(thenMs).getDay()) ? 'Monday' : weekday.format(thenMs);
  });
}

type Row = Readonly<Record<string, unknown>>;

/** An event of a demo: its row, without the id that `addEvents` gives it. */
export type DemoEvent = Row & { readonly type: EventType; readonly at: Date; readonly data: Row };

/** Formats bytes as PostgreSQL reads them from JSON. */
export function bytesText(bytes: Buffer): string {
  return `\\x${bytes.toString('hex')}`;
}

/** The rows of a demo by table, each table after those that its rows refer to. */
export class DemoRows {
  readonly tables = new Map<string, Row[]>();
  readonly events: DemoEvent[] = [];
  /** The columns of a message by the outcome of its text. */
  readonly outcomes = new Map<string, Row>();
  readonly nowMs: number;
  readonly startMs: number;
  readonly #ids = new Ids(new Clock());
  readonly #named = new Map<string, unknown>([
    ['shortcut.version', shortcutVersion],
    ['passed.tests', [anyText, ...inboundTests.map(({ name }) => name)]],
  ]);

  constructor(nowMs: number) {
    this.nowMs = nowMs;
    this.startMs = momentOf('13d 10:00', nowMs);
  }

  newId<P extends IdPrefix>(prefix: P, atMs: number): Id<P> {
    return this.#ids.next(prefix, atMs);
  }

  /**
   * Returns the id that has a name, and creates it at the first use; for a name such as `recall.phone`, the phone
   * number.
   */
  named<P extends IdPrefix>(name: string): Id<P> {
    const value = this.#named.get(name) ?? this.newId('req', this.startMs);
    this.#named.set(name, value);
    return value as Id<P>;
  }

  /** Adds a row to a table. All tables of a demo but that of accounts belong to the team. */
  add(table: string, row: Row): void {
    const rows = this.tables.get(table) ?? [];
    this.tables.set(table, rows);
    rows.push(table === 'accounts' ? row : { team_id: this.named('team'), ...row });
  }

  /** Adds an entry of the audit log. @param by `server`, `operator`, or the first name of a member */
  audit(at: Date, by: string, action: string, target: string, details: Row, more: Row = {}): void {
    const isMember = by !== 'server' && by !== 'operator';
    this.add('audit_log', {
      id: this.newId('aud', at.getTime()),
      account_id: null,
      actor_kind: isMember ? 'member' : by,
      actor_id: isMember ? typeIdOfUuid('usr', this.named(by)) : '',
      actor_name: isMember ? `${by}@${demoDomain}` : '',
      action,
      target,
      details,
      outcome: 'done',
      ip: isMember ? '203.0.113.7' : '',
      request_id: isMember ? typeIdOfUuid('req', this.newId('req', at.getTime())) : '',
      created_at: at,
      ...more,
    });
  }

  /**
   * Adds the rows of tables.txt. A block begins with the table and its columns; each further line is a row in JSON.
   * `$maya` is the id with that name, `$usr_maya` the same id in its public form, and `$random` a hash of unknown
   * bytes. `@2d 17:30` is a time.
   * @param phoneNumbers for `$frontDesk.phone` and the other numbers
   */
  addTables(phoneNumbers: readonly string[]): void {
    for (const [index, number] of ['frontDesk', 'recall', 'billing', 'former'].entries())
      this.#named.set(`${number}.phone`, phoneNumbers[index]);
    const text = readFileSync(new URL('tables.txt', import.meta.url), 'utf8');
    for (const block of text.trim().split('\n\n')) {
      const [head = '', ...lines] = block.split('\n');
      const [table = '', ...columns] = head.split(' ');
      for (const line of lines) {
        const values: unknown[] = JSON.parse(line, (_key, value) => this.#valueOf(value));
        const { outcome, ...row }: Row = Object.fromEntries(
          columns.map((column, index) => [column, values[index]]),
        );
        if (table === 'outcomes') this.outcomes.set(String(outcome), row);
        else if (table === 'events') this.events.push(row as DemoEvent);
        else if (table === 'audit_log') this.audit(...(values as Parameters<DemoRows['audit']>));
        else this.add(table, row);
      }
    }
  }

  /** The value that a text of tables.txt stands for. */
  #valueOf(value: unknown): unknown {
    if (typeof value !== 'string') return value;
    if (value === '$random') return bytesText(randomBytes(32));
    if (value.startsWith('@')) return new Date(momentOf(value.slice(1), this.nowMs));
    const [, prefix, name] = /^\$(?:([a-z]+)_)?(.+)$/.exec(value) ?? [];
    if (name === undefined) return value;
    return prefix === undefined ? this.named(name) : typeIdOfUuid(prefix, this.named(name));
  }
}
