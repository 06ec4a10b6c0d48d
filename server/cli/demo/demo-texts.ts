import { readFileSync } from 'node:fs';

/** A text of a demo. `outcome` is the status in which it ends, or the error code of its failure. */
export type DemoText = ReturnType<typeof readDemoTexts>[number];

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * Reads the texts of a demo, in the order of their times. A conversation in texts.txt is a block. Its first row has
 * number, contact and beginning. Each other row has the minutes since the previous text, the author and the words. A
 * contact of two digits is `+1 415 555 01` and these. `:outcome` and `+file` may follow the author; without an outcome a
 * text of the team is delivered. `{+2}` is the weekday two days after the text, or Monday in place of a weekend.
 */
export function readDemoTexts(nowMs: number) {
  const blocks = readFileSync(new URL('texts.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n\n');
  const texts = blocks.flatMap((block) => {
    const [head = '', ...rows] = block.split('\n');
    const [, number = '', contact = '', begins = '', unread] =
      /^(\w+) (\S+) (\d+m|\d+d \S+)( unread)?$/.exec(head) ?? [];
    let atMs = momentOf(begins, nowMs);
    return rows.map((row) => {
      const [, after, by = '', outcome, file, words = ''] =
        /^([\d.]+) (\w+)(?::(\w+))?(\+file)? (.+)$/.exec(row) ?? [];
      atMs += Number(after) * minuteMs;
      return {
        number,
        contact: contact.includes('@') ? contact : `+141555501${contact}`,
        atMs,
        isUnread: unread !== undefined,
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

/** Names weekdays. In place of a weekend, on which the practice is closed, it names the Monday after it. */
function nameWeekdays(text: string, atMs: number): string {
  return text.replaceAll(/\{\+(\d+)\}/g, (_, days) => {
    const thenMs = atMs + Number(days) * dayMs;
    return [0, 6].includes(new Date(thenMs).getDay()) ? 'Monday' : weekday.format(thenMs);
  });
}
