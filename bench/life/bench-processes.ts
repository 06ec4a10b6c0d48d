import { setTimeout as pause } from 'node:timers/promises';
import { readOptions } from '#campaign/options.ts';
import { createKey } from '#server/api-keys/api-keys.ts';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { operator } from '#server/platform/actor.ts';
import { until } from '#test/support/service/until.ts';
import { cpuSecondsOf, cpuSecondsOfEngine } from '../cpu-time.ts';
import { type Served, Servers, unlimited } from '../serve.ts';
import { newTeam } from '../teams.ts';
import { claimDevices, phoneNumbers } from './connect-phones.ts';
import { Ledger } from './ledger.ts';
import { PhoneFleet } from './phone-fleet.ts';
import { Senders } from './senders.ts';

const teamCount = 30;
const phonesOfTeam = 4;
const sendersOfTeam = 4;
const goal = 1.2;

/** Seconds until a phase is measured, in which V8 optimises the code. */
const settleSeconds = 15;

interface Team {
  readonly key: string;
  readonly numbers: readonly string[];
  readonly deviceTokens: readonly string[];
}

/** Chooses the process for a client of a team: a sender, or a phone. */
type Route = (team: number, client: number) => number;

/**
 * Benchmark H7: the CPU of a message with one process, and with three on the same PostgreSQL. The clients of a team are
 * spread over the processes, or stay at one, as a proxy could do by the routing tag (decision 0051). Each way has 30 teams of its own with four phones, and the same rate of messages.
 * usage: `npm run bench -- processes [--rate 600] [--seconds 20]`
 */
export async function benchProcesses(): Promise<void> {
  const { rate, seconds } = readOptions(process.argv.slice(3), { rate: 600, seconds: 20 });
  const servers = await Servers.open();
  try {
    const { dataDir } = servers;
    const processes = [await servers.start('server/main.ts', { settings: unlimited(dataDir) })];
    const runtime = await servers.openRuntime(unlimited(dataDir));
    const phase = (route: Route) => measure(runtime, dataDir, processes, route, rate, seconds);
    const one = await phase(() => 0);
    const further = { ...unlimited(dataDir), DATABASE_URL: await findEngineUrl(dataDir) };
    while (processes.length < 3) processes.push(await servers.start('server/main.ts', { settings: further }));
    const byTeam = await phase((team) => team % 3);
    const anywhere = await phase((team, client) => (team + client) % 3);
    const told = ({ node, postgres }: Cost) => `${Math.round(node)} + ${Math.round(postgres)} µs`;
    const of = ({ node, postgres }: Cost) => ((node + postgres) / (one.node + one.postgres)).toFixed(2);
    process.stdout.write(
      `H7: a message at ${rate}/s costs ${told(one)} of Node and PostgreSQL with one process\n` +
        `three, clients of a team anywhere: ${of(anywhere)} × (${told(anywhere)})\n` +
        `three, a team at one process: ${of(byTeam)} × (${told(byTeam)}; goal ≤ ${goal})\n`,
    );
  } finally {
    await servers.close();
  }
}

type Cost = Awaited<ReturnType<typeof measure>>;

let teamsMade = 0;

/** Loads new teams by the route. @returns the CPU microseconds of a message */
async function measure(
  runtime: Runtime,
  dataDir: string,
  processes: readonly Served[],
  route: Route,
  rate: number,
  seconds: number,
) {
  const originOf = (team: number, client: number) => processes[route(team, client)]?.origin ?? '';
  const teams: readonly Team[] = await Promise.all(
    Array.from({ length: teamCount }, () => makeTeam(runtime, originOf(0, 0))),
  );
  const ledger = new Ledger();
  const fleet = new PhoneFleet((handOuts) => ledger.handOut(handOuts));
  const senders: Senders[] = [];
  try {
    for (const [index, { key, numbers, deviceTokens }] of teams.entries()) {
      for (const [client, token] of deviceTokens.entries()) fleet.connect(originOf(index, client), [token]);
      for (let client = 0; client < sendersOfTeam; client += 1)
        senders.push(new Senders({ origin: originOf(index, client), key, numbers }, 1, ledger));
    }
    await until('all phones have a session', async () => {
      const sessions = 'SELECT count(*)::int AS n FROM device_sessions';
      const { rows } = await runtime.database.pool.query<{ n: number }>(sessions);
      return rows[0]?.n === teamsMade * phonesOfTeam;
    });
    // Each begins a little later, so that their sends are spread evenly.
    const send = (forSeconds: number) =>
      Promise.all(
        senders.map(async (sender, index) => {
          await pause((index * 1_000) / rate);
          await sender.atRate(rate / senders.length, forSeconds);
        }),
      );
    await send(settleSeconds);
    const [before, cpuBefore] = [ledger.handedOut, await readCpu(dataDir, processes)];
    await send(seconds);
    const [messages, cpuAfter] = [ledger.handedOut - before, await readCpu(dataDir, processes)];
    await until('all messages are handed out', async () => ledger.handedOut >= ledger.accepted);
    ledger.requireAllOnce();
    // The last reports come with the phones' next polls.
    await pause(1_000);
    return {
      node: ((cpuAfter.node - cpuBefore.node) * 1e6) / messages,
      postgres: ((cpuAfter.postgres - cpuBefore.postgres) * 1e6) / messages,
    };
  } finally {
    for (const sender of senders) sender.close();
    await fleet.stop();
  }
}

async function makeTeam(runtime: Runtime, origin: string): Promise<Team> {
  const from = teamsMade * phonesOfTeam;
  teamsMade += 1;
  const numbers = phoneNumbers(from + phonesOfTeam).slice(from);
  const { id } = await newTeam(runtime);
  const { key } = await runtime.database.transaction((trx) =>
    createKey(trx, runtime, { teamId: id, name: 'Bench', permissions: ['*'], by: operator }),
  );
  return { key, numbers, deviceTokens: await claimDevices(origin, key, numbers) };
}

async function readCpu(dataDir: string, processes: readonly Served[]) {
  const ofNode = await Promise.all(processes.map(({ pid }) => cpuSecondsOf(pid)));
  return { node: ofNode.reduce((sum, each) => sum + each, 0), postgres: await cpuSecondsOfEngine(dataDir) };
}
