import { readFileSync } from 'node:fs';
import { failureCodes } from '#contract/message.ts';

const outcomes = ['queued', 'polling', 'sent', 'delivered', ...failureCodes] as const;
/** The state in which an outbound text ends: `delivered` unless texts.txt has another one. */
export type DemoOutcome = (typeof outcomes)[number];

const senders = ['booking', 'maya', 'daniel', 'priya'] as const;
/** The API key of the booking system, or a member by first name. */
type DemoSender = (typeof senders)[number];

const numberNames = ['frontDesk', 'recall', 'billing', 'former'] as const;
export type DemoNumberName = (typeof numberNames)[number];

interface DemoText {
  readonly number: DemoNumberName;
  /** The handle of the contact. */
  readonly handle: string;
  readonly atMs: number;
  /** Whether the owner has not read the conversation. */
  readonly isUnread: boolean;
  readonly text: string;
  readonly hasFile: boolean;
}

export interface InboundDemoText extends DemoText {
  readonly by: 'contact';
}

export interface OutboundDemoText extends DemoText {
  readonly by: DemoSender;
  readonly outcome: DemoOutcome;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * Reads the texts of a demo, in the order of their times. A conversation in texts.txt is a block. Its first row has
 * number, contact and beginning. Each other row has the minutes since the previous text, the author and the words. A
 * contact of two digits is `+1 415 555 01` and these. `:outcome` and `+file` may follow the author. `{+2}` is the
 * weekday two days after the text, or Monday in place of a weekend.
 */
export function readDemoTexts(nowMs: number): (InboundDemoText | OutboundDemoText)[] {
  const blocks = readFileSync(new URL('texts.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n\n');
  const texts = blocks.flatMap((block) => {
    const [head = '', ...rows] = block.split('\n');
    const [, number, contact = '', begins = '', unread] =
      /^(\w+) (\S+) (\d+m|\d+d \S+)( unread)?$/.exec(head) ?? [];
    const handle = contact.includes('@') ? contact : `+141555501${contact}`;
    let atMs = momentOf(begins, nowMs);
    return rows.map((row) => {
      const [, after, author, outcome = 'delivered', file, words = ''] =
        /^([\d.]+) (\w+)(?::(\w+))?(\+file)? (.+)$/.exec(row) ?? [];
      atMs += Number(after) * minuteMs;
      const of = {
        number: oneOf(numberNames, number),
        handle,
        atMs,
        isUnread: unread !== undefined,
        hasFile: file !== undefined,
      };
      const text = nameWeekdays(words, atMs);
      if (author === 'contact') return { ...of, text, by: author } as const;
      return { ...of, text, by: oneOf(senders, author), outcome: oneOf(outcomes, outcome) };
    });
  });
  return texts.sort((one, other) => one.atMs - other.atMs);
}

/** The time of `3d 09:12`, three days ago in the server's time zone, or of `45m`, 45 minutes ago. */
export function momentOf(text: string, nowMs: number): number {
  const [, minutes, days, hour, minute] = /^(?:(\d+)m|(\d+)d (\d\d):(\d\d))$/.exec(text) ?? [];
  if (minutes !== undefined) return nowMs - Number(minutes) * minuteMs;
  const now = new Date(nowMs);
  const day = now.getDate() - Number(days);
  return new Date(now.getFullYear(), now.getMonth(), day, Number(hour), Number(minute)).getTime();
}

const weekday = new Intl.DateTimeFormat('en', { weekday: 'long' });

/** Names weekdays. In place of a weekend, on which the practice is closed, it names the Monday after it. */
function nameWeekdays(text: string, atMs: number): string {
  return text.replaceAll(/\{\+(\d+)\}/g, (_, days) => {
    const thenMs = atMs + Number(days) * dayMs;
    const isWeekend = [0, 6].includes(new Date(thenMs).getDay());
    return isWeekend ? 'Monday' : weekday.format(thenMs);
  });
}

function oneOf<Value extends string>(values: readonly Value[], text: string | undefined): Value {
  const found = values.find((value) => value === text);
  if (found === undefined) throw new Error(`texts.txt has "${text}" in place of ${values.join(', ')}`);
  return found;
}
