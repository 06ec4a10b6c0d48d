import { setTimeout as pause } from 'node:timers/promises';
import { readOptions } from '#campaign/options.ts';
import { median } from '../load.ts';
import { printLatency } from '../print-latency.ts';
import { type Installation, openInstallation, type Setup } from './installation.ts';
import { monotonicMs } from './ledger.ts';
import { measureSnapshot } from './measure-snapshot.ts';
import { cpuParts, type Round, runRound } from './run-round.ts';
import { type Library, startYardstick, type Way, type Yardstick } from './yardstick.ts';

/** The most CPU microseconds that a message may cost, without webhooks and with two of them. */
const cpuGoals = { without: { nodeUs: 300, postgresUs: 380 }, with: { nodeUs: 500, postgresUs: 560 } };

/** The lowest allowed ratio of Ownline's rate to that of the faster job-queue library. */
const ratioGoals: Readonly<Record<Way, number>> = { plain: 1.5, grouped: 0.6 };

/** The two loads of the goals, each without and with webhooks. */
const setups: readonly Setup[] = [
  { phones: 200, senders: 64, webhooks: 0 },
  { phones: 1_000, senders: 256, webhooks: 0 },
  { phones: 200, senders: 64, webhooks: 2 },
  { phones: 1_000, senders: 256, webhooks: 2 },
];

/** The load beside an open snapshot, of which only the latency is measured. The measurement adds its own webhook. */
const snapshotSetup: Setup = { phones: 20, senders: 8, webhooks: 0 };

/** Messages per second at which the goal for the latency holds. */
const nominalPerSecond = 200;
const latencyGoalMs = 50;
const burstGoalMs = 500;

/**
 * Benchmarks P10 and P6: the whole life of a message. Senders send as long as fewer than `--queue` messages for each
 * phone wait. Phones hold polls, and report each message with their next poll. Without webhooks, job-queue libraries
 * are measured between the rounds. The benchmark fails if a message is lost or handed out twice. Without `--phones`
 * it runs all setups. `--throughput` leaves out the latency. `--snapshot` measures the latency to a webhook beside an
 * open snapshot instead.
 * usage: `npm run bench -- life [--phones 200 --senders 64 --webhooks 0] [--seconds 10] [--rounds 2] [--queue 4]
 * [--snapshot] [--dead 300000]`
 */
export async function benchLife(): Promise<void> {
  const options = readOptions(process.argv.slice(3), {
    ...{ phones: 0, senders: 64, webhooks: 0, seconds: 10, rounds: 2, queue: 4 },
    ...{ throughput: false, snapshot: false, dead: 300_000 },
  });
  const { phones, senders, webhooks, seconds, rounds } = options;
  const usual = options.snapshot ? [snapshotSetup] : setups;
  const chosen = phones === 0 ? usual : [{ phones, senders, webhooks }];
  for (const setup of chosen) {
    const installation = await openInstallation(setup);
    try {
      process.stdout.write(
        `\n${setup.phones} phones, ${setup.senders} senders, ${setup.webhooks} webhooks\n`,
      );
      if (options.snapshot) {
        await measureSnapshot(installation, seconds, options.dead);
        continue;
      }
      const load = { seconds, waitingMax: options.queue * setup.phones };
      const top = await measureThroughput(installation, setup, load, rounds);
      if (!options.throughput) await measureLatency(installation, setup, top, seconds);
      installation.ledger.requireAllOnce();
      process.stdout.write(
        `all ${installation.ledger.accepted} messages were handed out once and reported\n`,
      );
    } finally {
      await installation.close();
    }
  }
}

/** Measures Ownline and each yardstick in turn, round by round. @returns the messages handed out per second */
async function measureThroughput(
  installation: Installation,
  setup: Setup,
  options: { readonly seconds: number; readonly waitingMax: number },
  rounds: number,
): Promise<number> {
  const isAlone = setup.webhooks > 0;
  const ours: Round[] = [];
  const libraries: readonly Library[] = isAlone ? [] : ['pg-boss', 'graphile-worker'];
  const ways: readonly Way[] = ['plain', 'grouped'];
  const jobs = libraries.flatMap((library) => ways.map((way) => ({ library, way, rounds: [] as Round[] })));
  const yardsticks = new Map<Library, Yardstick>();
  try {
    for (const library of libraries)
      yardsticks.set(library, await startYardstick(library, installation, setup));
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await runRound(installation, setup, options));
      for (const one of jobs) {
        const yardstick = yardsticks.get(one.library);
        if (yardstick) one.rounds.push(await yardstick.run(one.way, options));
      }
    }
  } finally {
    for (const yardstick of yardsticks.values()) await yardstick.stop();
  }
  const of = (pick: (round: Round) => number) => Math.round(median(ours.map(pick)));
  const goal = isAlone ? cpuGoals.with : cpuGoals.without;
  const cpu = cpuParts.map((part) => `${part} ${of(({ cpuUs }) => cpuUs[part])}`);
  const delivered = setup.webhooks === 0 ? '' : `, delivered ${of((round) => round.delivered)}`;
  process.stdout.write(
    `P10: accepted ${of((round) => round.accepted)}/s, handed out ${of((round) => round.handedOut)}, ` +
      `reported ${of((round) => round.reported)}${delivered} (${ours.map((round) => Math.round(round.handedOut)).join(' ')})\n` +
      `CPU µs each: ${cpu.join(', ')} (goals ≤ ${goal.nodeUs} and ${goal.postgresUs}); ` +
      `idle ${of((round) => round.idle * 100)} %; ${of((round) => round.waiting)} waited\n`,
  );
  if (isAlone) return median(ours.map((round) => round.handedOut));
  for (const { library, way, rounds: theirs } of jobs) {
    const ratios = theirs.map((round, index) => (ours[index]?.handedOut ?? Number.NaN) / round.handedOut);
    const their = (pick: (round: Round) => number) => Math.round(median(theirs.map(pick)));
    process.stdout.write(
      `${median(ratios).toFixed(2)} × ${library}, ${way} (goal ≥ ${ratioGoals[way]} × the better; ` +
        `${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}): ${their((round) => round.handedOut)}/s, CPU µs each: ` +
        `node ${their(({ cpuUs }) => cpuUs.node)}, PostgreSQL ${their(({ cpuUs }) => cpuUs.PostgreSQL)}; ` +
        `idle ${their((round) => round.idle * 100)} %\n`,
    );
  }
  return median(ours.map((round) => round.handedOut));
}

/** Latency at a fifth of the top rate and at the nominal rate, and of a burst to all phones at once. */
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
  // After this pause the server holds the polls that reported the last messages.
  await pause(1_000);
  const burstAtMs = monotonicMs();
  await senders.burst(phones);
  await untilSettled();
  printLatency(
    `P6: a burst of ${phones}, from its start to the phone`,
    ledger.arrivalsMs(burstAtMs),
    burstGoalMs,
  );
}
