import { setTimeout as pause } from 'node:timers/promises';
import { readOptions } from '#campaign/options.ts';
import { measureCpu } from '../cpu-time.ts';
import { openInstallation } from './installation.ts';

const goalPercent = 50;
const senders = 64;
const hourly = 100;

/** Seconds until a phase is measured, in which V8 optimises the code. */
const settleSeconds = 20;

/**
 * Benchmark P11: the CPU of a constant rate of messages with one webhook, minus that of the same phones while idle.
 * usage: `npm run bench -- pace [--phones 10000] [--seconds 60]`
 */
export async function benchPace(): Promise<void> {
  const { phones, seconds } = readOptions(process.argv.slice(3), { phones: 10_000, seconds: 60 });
  const perSecond = (phones * hourly) / 3_600;
  const installation = await openInstallation({ phones, senders, webhooks: 1 });
  try {
    const { server, dataDir, ledger, untilSettled, countPosts } = installation;
    /** @returns the percentages of a core that Node and PostgreSQL take */
    const measure = async (phase: (forSeconds: number) => Promise<unknown>) => {
      await phase(settleSeconds);
      const used = await measureCpu(server, dataDir, () => phase(seconds));
      return [used.node, used.postgres].map((cpu) => (cpu * 100) / used.seconds);
    };
    const idle = await measure((forSeconds) => pause(forSeconds * 1_000));
    const paced = await measure((forSeconds) => installation.senders.atRate(perSecond, forSeconds));
    await untilSettled();
    ledger.requireAllOnce();
    const more = paced.map((percent, part) => percent - (idle[part] ?? 0));
    const told = ([node, engine]: number[]) => `node ${node?.toFixed(1)}, PostgreSQL ${engine?.toFixed(1)}`;
    const all = more.reduce((sum, percent) => sum + percent, 0);
    process.stdout.write(
      `P11: ${phones} phones at ${perSecond.toFixed(0)} messages/s cost ${all.toFixed(1)} % of a core beyond idle ` +
        `(goal ≤ ${goalPercent} %): ${told(more)}; idle: ${told(idle)}\n` +
        `CPU µs each: ${told(more.map((percent) => (percent * 1e4) / perSecond))}; ` +
        `all ${ledger.accepted} messages were handed out once, and ${await countPosts()} deliveries arrived\n`,
    );
  } finally {
    await installation.close();
  }
}
