import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { residentBytes } from '#campaign/neighbours/cpu-time.ts';
import { readOptions } from '#campaign/options.ts';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { measureCpu } from '../cpu-time.ts';
import { claimDevices, phoneNumbers } from '../life/connect-phones.ts';
import { Ledger, monotonicMs } from '../life/ledger.ts';
import { PhoneFleet } from '../life/phone-fleet.ts';
import { Senders } from '../life/senders.ts';
import { printLatency } from '../print-latency.ts';
import { type Served, Servers, unlimited } from '../serve.ts';

const goals = { kbEach: 25, percentOfCore: 10, connectedSeconds: 60, burstMs: 500 };

/** Concurrent sends of the burst. */
const connections = 256;

/** Seconds until the memory of a new process is steady, and until a load is. */
const settleSeconds = 5;

const connectedMaxMs = 300_000;

/**
 * Benchmark P5: one process holds the polls of idle phones. It prints their memory and CPU, restarts the service
 * under them, and sends a message to `--woken` phones at the same time.
 * usage: `npm run bench -- phones [--phones 10000] [--woken 1000] [--seconds 50]`
 */
export async function benchPhones(): Promise<void> {
  const options = readOptions(process.argv.slice(3), { phones: 10_000, woken: 1_000, seconds: 50 });
  const { phones, seconds } = options;
  const numbers = phoneNumbers(phones);
  const port = await freePort();
  const inspectPort = await freePort();
  const ledger = new Ledger();
  const fleet = new PhoneFleet((handOuts) => ledger.handOut(handOuts));
  const servers = await Servers.open();
  const { dataDir } = servers;
  const settings = { ...unlimited(dataDir), NODE_OPTIONS: `--inspect-port=${inspectPort}` };
  const start = () => servers.start('server/main.ts', { settings, port });
  try {
    let server = await start();
    const key = await firstKey(dataDir);
    const startedMs = performance.now();
    const deviceTokens = await claimDevices(server.origin, key, numbers);
    process.stdout.write(`${phones} phones were set up in ${secondsSince(startedMs)} s\n`);

    await server.stop();
    server = await start();
    await pause(settleSeconds * 1_000);
    const atStart = await readMemory(server, inspectPort);
    let sinceMs = performance.now();
    let since = new Date();
    fleet.connect(server.origin, deviceTokens);
    await untilConnected(dataDir, phones, since);
    process.stdout.write(`their first polls were held after ${secondsSince(sinceMs)} s\n`);
    await printIdleCpu(server, dataDir, seconds);
    const holding = await readMemory(server, inspectPort);
    const kbEach = (of: keyof Memory) => (((holding[of] - atStart[of]) * 1_000) / phones).toFixed(1);
    process.stdout.write(
      `P5: after a garbage collection each takes ${kbEach('liveMb')} KB of objects and buffers, ` +
        `${kbEach('residentMb')} KB of resident memory (goal ≤ ${goals.kbEach})\n`,
    );

    sinceMs = performance.now();
    await server.stop();
    const stopped = secondsSince(sinceMs);
    const { unavailable } = await fleet.count();
    since = new Date();
    server = await start();
    const restarted = secondsSince(sinceMs);
    await untilConnected(dataDir, phones, since);
    const counts = await fleet.count();
    process.stdout.write(
      `P5: after a SIGTERM the service ended in ${stopped} s, answered after ${restarted} s, and held all polls after ` +
        `${secondsSince(sinceMs)} s (goal ≤ ${goals.connectedSeconds} s)\n` +
        `unavailable: ${unavailable} answers of the process that stopped, ${counts.unavailable - unavailable} of the new one (goal 0); ` +
        `${counts.lostConnections} phones found nothing that listened, ${counts.stops} were stopped\n`,
    );
    await printIdleCpu(server, dataDir, seconds);

    const woken = numbers.slice(0, options.woken);
    const senders = new Senders({ origin: server.origin, key, numbers: woken }, connections, ledger);
    for (const process of ['cold', 'warm']) {
      const burstAtMs = monotonicMs();
      await senders.burst(woken.length);
      await until('all are handed out', () => ledger.handedOut === ledger.accepted);
      printLatency(
        `P5: ${woken.length} of them woken at once, ${process} process, from the start to the phone`,
        ledger.arrivalsMs(burstAtMs),
        goals.burstMs,
      );
      await pause(settleSeconds * 1_000);
    }
    senders.close();
    ledger.requireAllOnce();
  } finally {
    await fleet.stop();
    await servers.close();
  }
}

const secondsSince = (ms: number) => ((performance.now() - ms) / 1_000).toFixed(1);

/** Waits until the service has looked up a poll of each phone since a time. */
async function untilConnected(dataDir: string, phones: number, since: Date): Promise<void> {
  const pool = new pg.Pool({ connectionString: await findEngineUrl(dataDir), max: 1 });
  try {
    await until(
      'all phones are connected',
      async () => {
        const { rows } = await pool.query<{ n: number }>(
          'SELECT count(*)::int AS n FROM device_sessions WHERE last_seen_at >= $1',
          [since],
        );
        await pause(100);
        return rows[0]?.n === phones;
      },
      connectedMaxMs,
    );
  } finally {
    await pool.end();
  }
}

interface Memory {
  readonly liveMb: number;
  readonly residentMb: number;
}

async function readMemory({ pid }: Served, inspectPort: number): Promise<Memory> {
  return { liveMb: await liveMb(pid, inspectPort), residentMb: residentMb(pid) };
}

async function printIdleCpu(server: Served, dataDir: string, seconds: number): Promise<void> {
  await pause(settleSeconds * 1_000);
  const used = await measureCpu(server, dataDir, () => pause(seconds * 1_000));
  const [node, postgres] = [used.node, used.postgres].map((cpu) => (cpu * 100) / used.seconds);
  process.stdout.write(
    `P5: idle for ${seconds} s: node takes ${node?.toFixed(1)} % of a core (goal ≤ ${goals.percentOfCore}), PostgreSQL ${postgres?.toFixed(1)} %\n`,
  );
}

/** Resident memory of a process in MB (10^6 bytes). Linux only. */
const residentMb = (pid: number) => residentBytes(pid) / 1e6;

/**
 * Memory that JavaScript objects and buffers of a Node process still use, in MB, after a garbage collection. It opens
 * the process's inspector, so the process needs a port of its own (`--inspect-port`).
 */
async function liveMb(pid: number, inspectPort: number): Promise<number> {
  process.kill(pid, 'SIGUSR1');
  const url = await until('the inspector listens', () =>
    fetch(`http://127.0.0.1:${inspectPort}/json`).then(
      async (answer) =>
        ((await answer.json()) as { webSocketDebuggerUrl: string }[])[0]?.webSocketDebuggerUrl,
      () => undefined,
    ),
  );
  const socket = new WebSocket(url);
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const call = async (method: string) => {
    const answered = new Promise<MessageEvent>((resolve) =>
      socket.addEventListener('message', resolve, { once: true }),
    );
    socket.send(JSON.stringify({ id: 1, method }));
    return JSON.parse(String((await answered).data)).result;
  };
  await call('HeapProfiler.collectGarbage');
  const { usedSize, embedderHeapUsedSize, backingStorageSize } = await call('Runtime.getHeapUsage');
  socket.close();
  return (usedSize + embedderHeapUsedSize + backingStorageSize) / 1e6;
}
