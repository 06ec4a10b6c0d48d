import { setTimeout as pause } from 'node:timers/promises';
import { readOptions } from '#campaign/options.ts';
import { type MessageId, publicId } from '#server/platform/ids.ts';
import type { Installation } from '../life/installation.ts';
import { monotonicMs } from '../life/ledger.ts';
import { cpuParts, type Round, runRound } from '../life/run-round.ts';
import { median } from '../load.ts';
import { messagesPerContact } from '../retention/seed.ts';
import { type Filled, openFilled, requireSpace } from './filled-installation.ts';

const teams = 100;
const fewMessages = 10_000;

const setup = { phones: 50, senders: 64, webhooks: 0 };
const load = { seconds: 5, waitingMax: 200 };
const drained = 2_000;
const rounds = 3;
const requestsOfRound = 40;

/** Limits of ratios to a database with few messages: the highest of page times, the lowest of throughput. */
const goals = { page: 1.5, throughput: 0.9 };

/**
 * Benchmarks P7 and P9: pages, sends and hand-outs with many messages in the database, as ratios to those with 10,000.
 * Both databases are measured in turn. usage: `npm run bench -- filled [--messages 10000000]`
 * @throws Error if the disk has too little free space
 */
export async function benchFilled(): Promise<void> {
  const { messages } = readOptions(process.argv.slice(3), { messages: 10_000_000 });
  await requireSpace(messages);
  const opened: Filled[] = [];
  try {
    for (const count of [fewMessages, messages]) {
      const startedMs = performance.now();
      opened.push(await openFilled(setup, teams, count));
      process.stdout.write(
        `${count} messages of ${teams} teams, written in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s\n`,
      );
    }
    await comparePages(opened);
    await compareLoads(opened);
  } finally {
    for (const filled of opened.reverse()) await filled.close();
  }
}

/** Paths of the measured pages below a team's address, with a sender, recipient and cursor of this database. */
async function pagesOf({ installation: { database } }: Filled): Promise<Readonly<Record<string, string>>> {
  const { rows } = await database.query<{ id: MessageId; from_handle: string; to_handle: string }>(
    `SELECT id, from_handle, to_handle FROM messages WHERE team_id = (SELECT id FROM teams ORDER BY id LIMIT 1)
     ORDER BY id OFFSET (SELECT count(*) FROM messages) / ${2 * teams} LIMIT 1`,
  );
  const [middle] = rows;
  if (!middle) throw new Error('the first team has no messages');
  const [from, to] = [encodeURIComponent(middle.from_handle), encodeURIComponent(middle.to_handle)];
  return {
    'the first page': '/messages',
    'a page in the middle': `/messages?cursor=${publicId('msg', middle.id)}`,
    'of a sender': `/messages?from=${from}`,
    'of a recipient': `/messages?to=${to}`,
    'with a status': '/messages?status=sent',
    'with a status that few have': '/messages?status=failed',
    'inbound, which few are': '/messages?direction=inbound',
    // The limit is the number of conversations that a team has in the database with few messages.
    conversations: `/conversations?limit=${fewMessages / teams / messagesPerContact}`,
    'a conversation': `/conversations/${from}/${to}/messages`,
  };
}

async function comparePages(sides: readonly Filled[]): Promise<void> {
  const pages = await Promise.all(sides.map(pagesOf));
  for (const name of Object.keys(pages[0] ?? {})) {
    const times = sides.map((): number[] => []);
    for (let n = 0; n < rounds * requestsOfRound; n += 1) {
      for (const [index, { member }] of sides.entries()) {
        const startedMs = performance.now();
        const answer = await member.get(member.in(pages[index]?.[name] ?? ''));
        if (answer.status !== 200) throw new Error(`the page was answered ${answer.status}: ${answer.text}`);
        times[index]?.push(performance.now() - startedMs);
      }
    }
    const [few = Number.NaN, many = Number.NaN] = times.map(median);
    print(`P7: ${name}`, 'ms', [few], [many], `≤ ${goals.page}`);
  }
}

async function compareLoads(sides: readonly Filled[]): Promise<void> {
  const measured = sides.map((): { round: Round; filled: number; drained: number }[] => []);
  for (let n = 0; n < rounds; n += 1) {
    for (const [index, { installation }] of sides.entries()) {
      const round = await runRound(installation, setup, load);
      const { filledPerSecond, drainedPerSecond } = await fillAndDrain(installation, drained);
      measured[index]?.push({ round, filled: filledPerSecond, drained: drainedPerSecond });
    }
  }
  for (const { installation } of sides) installation.ledger.requireAllOnce();
  const [few = [], many = []] = measured;
  const compare = (name: string, unit: string, goal: string, of: (one: (typeof few)[number]) => number) =>
    print(`P9: ${name}`, unit, few.map(of), many.map(of), goal);
  const atLeast = `≥ ${goals.throughput}`;
  compare('sends', '/s', atLeast, ({ filled }) => filled);
  compare('hand-outs of a filled queue', '/s', atLeast, (one) => one.drained);
  compare('whole lives', '/s', atLeast, ({ round }) => round.handedOut);
  // The webhook receiver is left out, because no webhook takes part.
  for (const part of cpuParts.filter((name) => name !== 'sink'))
    compare(
      `CPU of a life, ${part}`,
      'µs',
      `≤ ${(1 / goals.throughput).toFixed(2)}`,
      ({ round }) => round.cpuUs[part],
    );
}

function print(
  name: string,
  unit: string,
  few: readonly number[],
  many: readonly number[],
  goal: string,
): void {
  const ratios = few.map((value, index) => (many[index] ?? Number.NaN) / value);
  const digits = unit === 'ms' ? 1 : 0;
  process.stdout.write(
    `${name}: ${median(ratios).toFixed(2)} × (goal ${goal}), ${median(few).toFixed(digits)} and ${median(many).toFixed(digits)} ${unit}\n`,
  );
}

/** Until the service has noticed that all phones left. */
const leftMs = 1_000;

/** Sends messages while the phones are off, and then hands them out. */
async function fillAndDrain(
  { senders, ledger, fleet, untilSettled }: Installation,
  messages: number,
): Promise<{ readonly filledPerSecond: number; readonly drainedPerSecond: number }> {
  fleet.switchOff();
  await pause(leftMs);
  const startedMs = monotonicMs();
  await senders.burst(messages);
  const filledMs = monotonicMs() - startedMs;
  fleet.switchOn();
  await untilSettled();
  const drainedMs = Math.max(...ledger.arrivalsMs(startedMs)) - filledMs;
  return {
    filledPerSecond: (messages * 1_000) / filledMs,
    drainedPerSecond: (messages * 1_000) / drainedMs,
  };
}
