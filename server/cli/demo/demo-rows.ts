import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EventType } from '#contract/event.ts';
import { anyText, inboundTests } from '#server/devices/inbound-tests.ts';
import { demoDomain } from '#server/platform/demo-domain.ts';
import { type Id, type IdPrefix, Ids } from '#server/platform/ids/ids.ts';
import { typeIdOfUuid } from '#server/platform/ids/type-id.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { shortcutVersion } from '#shortcut/connection.ts';
import { momentOf } from './demo-texts.ts';

type Row = Readonly<Record<string, unknown>>;

/** An event of a demo: its row, without the id that `addEvents` gives it. */
export type DemoEvent = Row & { readonly type: EventType; readonly at: Date; readonly data: Row };

/** Bytes as PostgreSQL reads them from JSON. */
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

  /** The id with a name, which is made at its first use; for `recall.phone` a phone number. */
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
   * Adds the rows of tables.txt. A block has the table and its columns, and then a row a line, in JSON. `$maya` is an id by
   * name, `$usr_maya` the same as a public id, and `$random` the hash of something unknown. `@2d 17:30` is a time.
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
