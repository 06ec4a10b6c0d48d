import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuSecondsOf, cpuSecondsOfEngine, idleSecondsOfCores } from '../cpu-time.ts';
import type { Installation, Setup } from './installation.ts';

export const cpuParts = ['node', 'PostgreSQL', 'senders', 'phones', 'sink'] as const;
type CpuPart = (typeof cpuParts)[number];

/** A round's messages per second, and the CPU microseconds of a message that was handed out. */
export type Round = Awaited<ReturnType<typeof runRound>>;

/** The measurement begins once the queue has reached its full length, or after the longest ramp. */
const rampMs = { min: 3_000, max: 8_000 };

/** Milliseconds between two looks at the length of the queue. */
const tickMs = 20;

/** Loads the service, measures once the load is steady, and then waits until all messages and deliveries are done. */
export async function runRound(
  installation: Installation,
  { webhooks }: Setup,
  { seconds, waitingMax }: { readonly seconds: number; readonly waitingMax: number },
) {
  const { senders, ledger, countPosts, untilSettled } = installation;
  const postsBefore = await countPosts();
  const settledBefore = ledger.accepted;
  let isOver = false;
  let waiting = 0;
  let room = Promise.withResolvers<void>();
  const watch = async () => {
    while (!isOver) {
      const delivered =
        webhooks === 0 ? ledger.handedOut : settledBefore + ((await countPosts()) - postsBefore) / webhooks;
      // The senders wait for the phones or for the webhooks, whichever are slower.
      waiting = ledger.accepted - Math.min(ledger.handedOut, delivered);
      if (waiting < waitingMax) {
        room.resolve();
        room = Promise.withResolvers();
      }
      await pause(tickMs);
    }
    room.resolve();
  };
  const hasRoom = () => ledger.accepted - ledger.handedOut < waitingMax && waiting < waitingMax;
  const untilRoom = async () => {
    while (!isOver && !hasRoom()) await room.promise;
    return !isOver;
  };
  const load = Promise.all([watch(), senders.flow(() => (hasRoom() ? !isOver : untilRoom()))]);
  const measured = async () => {
    const startedMs = performance.now();
    const elapsedMs = () => performance.now() - startedMs;
    while (elapsedMs() < rampMs.min || (waiting < 0.9 * waitingMax && elapsedMs() < rampMs.max))
      await pause(tickMs);
    const before = await readCounts(installation);
    await pause(seconds * 1_000);
    const after = await readCounts(installation);
    isOver = true;
    return { before, after };
  };
  const [{ before, after }] = await Promise.all([measured(), load]);
  await untilSettled();
  const took = (after.at.getTime() - before.at.getTime()) / 1_000;
  const messages = after.handedOut - before.handedOut;
  const eachUs = (part: CpuPart) => ((after[part] - before[part]) * 1e6) / messages;
  const recorded = await countRecorded(installation, before.at, after.at);
  return {
    accepted: (after.accepted - before.accepted) / took,
    handedOut: messages / took,
    reported: recorded.reported / took,
    delivered: recorded.delivered / took,
    cpuUs: {
      node: eachUs('node'),
      PostgreSQL: eachUs('PostgreSQL'),
      senders: eachUs('senders'),
      phones: eachUs('phones'),
      sink: eachUs('sink'),
    },
    /** Share of all cores that was idle. */
    idle: (after.idle - before.idle) / availableParallelism() / took,
    /** Messages that waited for a phone at the end. */
    waiting: after.accepted - after.handedOut,
  };
}

async function readCounts({ ledger, server, dataDir, fleet, sink }: Installation) {
  const { user, system } = process.cpuUsage();
  return {
    at: new Date(),
    accepted: ledger.accepted,
    handedOut: ledger.handedOut,
    node: await cpuSecondsOf(server.pid),
    PostgreSQL: await cpuSecondsOfEngine(dataDir),
    senders: (user + system) / 1e6,
    phones: await cpuSecondsOf(fleet.pid),
    sink: await cpuSecondsOf(sink.pid),
    idle: await idleSecondsOfCores(),
  };
}

/** Counts what the service recorded between two times. The clocks of this machine's processes agree. */
async function countRecorded(
  { database }: Installation,
  from: Date,
  to: Date,
): Promise<{ readonly reported: number; readonly delivered: number }> {
  const { rows } = await database.query<{ reported: number; delivered: number }>(
    `SELECT (SELECT count(*) FROM hand_outs WHERE outcome = 'sent' AND resolved_at >= $1 AND resolved_at < $2)::int AS reported,
       (SELECT count(*) FROM deliveries WHERE succeeded_at >= $1 AND succeeded_at < $2)::int AS delivered`,
    [from, to],
  );
  const [row] = rows;
  if (!row) throw new Error('the counts of hand-outs and deliveries could not be read');
  return row;
}
