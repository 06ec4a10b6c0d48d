import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { measure, median } from '../load.ts';
import { printLatency } from '../print-latency.ts';
import { contact, text } from '../send/sends.ts';
import { type Kannel, startKannel } from '../send/yardstick-kannel.ts';
import { fillAndDrain } from './fill-and-drain.ts';
import { type Installation, openInstallation, type Setup } from './installation.ts';
import { monotonicMs } from './ledger.ts';
import { measureSnapshot } from './measure-snapshot.ts';
import { cpuParts, type Round, runRound } from './run-round.ts';

/** The least ratio to Kannel, and the most CPU microseconds of a message, without webhooks. */
const goals = {
  fewPhones: { ratio: 0.3, nodeUs: 450, postgresUs: 550 },
  manyPhones: { ratio: 0.4, nodeUs: 300, postgresUs: 350 },
};
const manyPhonesMin = 1_000;

/** The two loads of the goals, each without and with webhooks. */
const setups: readonly Setup[] = [
  { phones: 200, senders: 64, webhooks: 0 },
  { phones: 1_000, senders: 256, webhooks: 0 },
  { phones: 200, senders: 64, webhooks: 2 },
  { phones: 1_000, senders: 256, webhooks: 2 },
];

/** The load beside an open snapshot: latency, not throughput. Its webhook is the measurement's own. */
const snapshotSetup: Setup = { phones: 20, senders: 8, webhooks: 0 };

const kannelSeconds = 4;
const kannelConnections = 64;

/** The rate at which the latency has its goal. */
const nominalPerSecond = 200;
const latencyGoalMs = 50;
const burstGoalMs = 500;

/** The most messages that a drain begins with. */
const drainedMax = 5_000;

/**
 * Benchmarks P10 and P6: the whole life of a message. Senders send as long as fewer than `--queue` messages for each
 * phone wait. Phones hold polls, and report each message with their next poll. Kannel, which accepts and hands out,
 * runs between the rounds. It fails where a message is lost or handed out twice. Without `--phones` it runs all setups.
 * `--throughput` leaves out the latency. `--snapshot` measures the latency to a webhook beside an open snapshot instead.
 * usage: `npm run bench -- life [--phones 200 --senders 64 --webhooks 0] [--seconds 10] [--rounds 2] [--queue 4]
 * [--snapshot] [--dead 300000]`
 */
export async function benchLife(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      phones: { type: 'string' },
      senders: { type: 'string', default: '64' },
      webhooks: { type: 'string', default: '0' },
      seconds: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '2' },
      queue: { type: 'string', default: '4' },
      throughput: { type: 'boolean', default: false },
      snapshot: { type: 'boolean', default: false },
      dead: { type: 'string', default: '300000' },
    },
  });
  const { phones, senders, webhooks } = values;
  const chosen =
    phones === undefined
      ? values.snapshot
        ? [snapshotSetup]
        : setups
      : [{ phones: Number(phones), senders: Number(senders), webhooks: Number(webhooks) }];
  for (const setup of chosen) {
    const installation = await openInstallation(setup);
    try {
      process.stdout.write(
        `\n${setup.phones} phones, ${setup.senders} senders, ${setup.webhooks} webhooks\n`,
      );
      if (values.snapshot) {
        await measureSnapshot(installation, Number(values.seconds), Number(values.dead));
        continue;
      }
      const options = { seconds: Number(values.seconds), waitingMax: Number(values.queue) * setup.phones };
      const top = await measureThroughput(installation, setup, options, Number(values.rounds));
      if (!values.throughput) await measureLatency(installation, setup, top, options.seconds);
      installation.ledger.requireAllOnce();
      process.stdout.write(
        `all ${installation.ledger.accepted} messages were handed out once and reported\n`,
      );
    } finally {
      await installation.close();
    }
  }
}

/** Rounds of our own load and of Kannel in turn. @returns the messages handed out per second */
async function measureThroughput(
  installation: Installation,
  setup: Setup,
  options: { readonly seconds: number; readonly waitingMax: number },
  rounds: number,
): Promise<number> {
  const kannel = await startKannel(join(installation.dataDir, 'kannel'));
  const ours: Round[] = [];
  const ratios: number[] = [];
  const yardsticks: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const own = await runRound(installation, setup, options);
      ours.push(own);
      if (!kannel) continue;
      const yardstick = await measureKannel(kannel);
      yardsticks.push(yardstick);
      ratios.push(own.handedOut / yardstick);
    }
  } finally {
    await kannel?.stop();
  }
  const goal = setup.phones < manyPhonesMin ? goals.fewPhones : goals.manyPhones;
  const of = (pick: (round: Round) => number) => Math.round(median(ours.map(pick)));
  const cpu = cpuParts.map((part) => `${part} ${of(({ cpuUs }) => cpuUs[part])}`);
  const delivered = setup.webhooks === 0 ? '' : `, delivered ${of((round) => round.delivered)}`;
  process.stdout.write(
    `P10: accepted ${of((round) => round.accepted)}/s, handed out ${of((round) => round.handedOut)}, ` +
      `reported ${of((round) => round.reported)}${delivered} (${ours.map((round) => Math.round(round.handedOut)).join(' ')})\n` +
      `CPU µs each: ${cpu.join(', ')} (goals ≤ ${goal.nodeUs} and ${goal.postgresUs} without webhooks); ` +
      `idle ${of((round) => round.idle * 100)} %; ${of((round) => round.waiting)} waited\n` +
      (ratios.length === 0
        ? 'Kannel is not installed (Debian: kannel, kannel-extras); left out\n'
        : `${median(ratios).toFixed(2)} × Kannel (goal ≥ ${goal.ratio} ×; ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}), ` +
          `which accepts and hands out ${Math.round(median(yardsticks))}/s\n`),
  );
  return median(ours.map((round) => round.handedOut));
}

/** @returns the messages per second that Kannel accepted and handed to its fake SMSC */
async function measureKannel(kannel: Kannel): Promise<number> {
  const request = (n: number) => kannel.request(`+1415555010${n % 8}`, contact(n), text(n));
  const load = { origin: kannel.origin, request, connections: kannelConnections };
  const before = await kannel.countHandedOut();
  const startedMs = performance.now();
  await measure({ ...load, seconds: kannelSeconds });
  return ((await kannel.countHandedOut()) - before) / ((performance.now() - startedMs) / 1_000);
}

/** Latency at a fifth of the top rate and at the nominal rate, a burst to all phones at once, and a drain. */
async function measureLatency(
  installation: Installation,
  { phones }: Setup,
  top: number,
  seconds: number,
): Promise<void> {
  const { senders, ledger, untilSettled } = installation;
  for (const perSecond of [Math.max(1, Math.round(top / 5)), nominalPerSecond]) {
    const sinceMs = monotonicMs();
    await senders.atRate(perSecond, seconds);
    await untilSettled();
    printLatency(
      `P6: at ${perSecond}/s, from the 202 to the phone`,
      ledger.latenciesMs(sinceMs),
      latencyGoalMs,
    );
  }
  // The phones' polls that reported the last messages are held by then.
  await pause(1_000);
  const burstAtMs = monotonicMs();
  await senders.burst(phones);
  await untilSettled();
  printLatency(
    `P6: a burst of ${phones}, from its start to the phone`,
    ledger.arrivalsMs(burstAtMs),
    burstGoalMs,
  );

  const drained = Math.min(drainedMax, 20 * phones);
  const { filledPerSecond, drainedPerSecond } = await fillAndDrain(installation, drained);
  process.stdout.write(
    `a queue of ${drained} was filled at ${Math.round(filledPerSecond)}/s and drained at ${Math.round(drainedPerSecond)}/s\n`,
  );
}
