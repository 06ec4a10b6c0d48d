import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { SimulatedPhone } from '#simulated-phone/simulated-phone.ts';
import { followLive, type LiveClient } from '#test/support/dashboard/live-client.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';
import { Throttle } from '../../web/live/throttle.ts';
import { measureCpu } from '../cpu-time.ts';
import { median } from '../load.ts';
import { printLatency } from '../print-latency.ts';
import { Servers, unlimited } from '../serve.ts';
import { startPhones } from '../simulated-phones.ts';
import { firstTeam } from '../teams.ts';

const dashboards = 50;
const phones = 4;
const messagesPerSecond = 10;
const roundSeconds = Number(process.env.BENCH_SECONDS ?? 30);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const goalPercent = 20;

/** Shares of one core that a round used. */
interface Cost {
  readonly node: number;
  readonly postgres: number;
}

/**
 * Measures the cost of open dashboards. Rounds of messages alternate between no dashboard and 50 of one team, which read
 * what their page shows. Prints the CPU that they add, and the delay from a send's 202 to its row in a page.
 */
export async function benchDashboards(): Promise<void> {
  const servers = await Servers.open();
  const settings = unlimited(servers.dataDir);
  const server = await servers.start('server/main.ts', { settings });
  const runtime = await servers.openRuntime(settings);
  let running: readonly SimulatedPhone[] = [];
  try {
    const team = await firstTeam(runtime);
    const api = new ApiClient(server.origin, await firstKey(servers.dataDir));
    const numbers = Array.from({ length: phones }, (_, n) => `+1415555010${n}`);
    running = await startPhones(api, numbers);
    const service = { baseUrl: server.origin, runtime };
    const members = [];
    for (let n = 0; n < dashboards; n += 1) members.push(await newMember(service, team, 'member'));

    const measure = async (): Promise<Cost & { readonly sentAtMs: Map<string, number> }> => {
      const pass = () => passMessages(api, numbers);
      const { result, node, postgres } = await measureCpu(server, servers.dataDir, pass);
      return { node: node / roundSeconds, postgres: postgres / roundSeconds, sentAtMs: result };
    };
    await measure();
    const without: Cost[] = [];
    const beside: Cost[] = [];
    const delaysMs: number[] = [];
    // Messages that had left the newest page of a log when it was read, as on an overloaded machine.
    let missed = 0;
    for (let round = 0; round < rounds; round += 1) {
      without.push(await measure());
      const open: Dashboard[] = [];
      for (const [n, member] of members.entries()) open.push(await Dashboard.open(member, n, numbers));
      const cost = await measure();
      beside.push(cost);
      const logs = open.filter(({ hasLog }) => hasLog);
      const ids = [...cost.sentAtMs.keys()];
      await until('the last is shown', () => logs.every(({ shownAtMs }) => shownAtMs.has(ids.at(-1) ?? '')));
      for (const { shownAtMs } of logs) {
        const shown = ids.filter((id) => shownAtMs.has(id));
        missed += ids.length - shown.length;
        for (const id of shown)
          delaysMs.push((shownAtMs.get(id) ?? Number.NaN) - (cost.sentAtMs.get(id) ?? Number.NaN));
      }
      for (const dashboard of open) await dashboard.close();
    }
    print(without, beside, delaysMs);
    if (missed > 0) process.stdout.write(`${missed} messages left a page before it was read\n`);
  } finally {
    for (const phone of running) phone.switchOff();
    await servers.close();
  }
}

/** Sends at a constant rate. @returns the time of each message's 202 */
async function passMessages(api: ApiClient, numbers: readonly string[]): Promise<Map<string, number>> {
  const sentAtMs = new Map<string, number>();
  const startedMs = performance.now();
  for (let n = 0; n < messagesPerSecond * roundSeconds; n += 1) {
    await pause(Math.max(0, startedMs + (n * 1_000) / messagesPerSecond - performance.now()));
    const from = numbers[n % numbers.length] ?? '';
    const id = await api.send({ from, to: `+1415555${1_000 + (n % 200)}`, content: 'Your table is ready.' });
    sentAtMs.set(id, performance.now());
  }
  return sentAtMs;
}

/** The paths that a page reads, by the throttles of the dashboard. */
interface ShownPage {
  readonly rows: readonly string[];
  readonly conversations: readonly string[];
  readonly states: readonly string[];
}

/** An open page of the dashboard, which reads as web/live/use-live-stream.ts does. */
class Dashboard {
  readonly hasLog: boolean;
  /** The time at which the message log first contained each message. */
  readonly shownAtMs = new Map<string, number>();
  readonly #member: TeamMember;
  readonly #stream: LiveClient;
  readonly #conversations: Throttle;
  readonly #states: Throttle;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #running = new Map<string, boolean>();

  /** Opens Home, a conversation or the message log, by turns. */
  static async open(member: TeamMember, n: number, numbers: readonly string[]): Promise<Dashboard> {
    const thread = `/conversations/${numbers[n % numbers.length]}/+1415555${1_000 + n}/messages?limit=40`;
    const pages = [
      { rows: [], conversations: ['/conversations'], states: ['/home'] },
      { rows: [thread], conversations: ['/conversations'], states: [] },
      { rows: ['/messages'], conversations: [], states: ['/home'] },
    ];
    const [page] = pages.slice(n % pages.length);
    assert.ok(page);
    return new Dashboard(member, await followLive(member), page);
  }

  private constructor(member: TeamMember, stream: LiveClient, { rows, conversations, states }: ShownPage) {
    this.#member = member;
    this.#stream = stream;
    this.hasLog = rows.includes('/messages');
    const reading = (paths: readonly string[]) => () => {
      for (const path of paths) this.#read(path);
    };
    this.#conversations = new Throttle([1_000, 6_000], reading([...conversations, '/conversations/unread']));
    this.#states = new Throttle([3_000, 15_000], reading(states));
    this.#timer = setInterval(() => {
      const isChanged = stream.all('changed').some(({ resources }) => resources.includes('message'));
      stream.clear();
      if (!isChanged) return;
      reading(rows)();
      this.#conversations.run();
      this.#states.run();
    }, 5);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#conversations.stop();
    this.#states.stop();
    await this.#stream.close();
    await until('no read is under way', () => this.#running.size === 0);
  }

  #read(path: string): void {
    const isRunning = this.#running.has(path);
    this.#running.set(path, isRunning);
    if (!isRunning) void this.#readNow(path);
  }

  async #readNow(path: string): Promise<void> {
    do {
      this.#running.set(path, false);
      const { status, json } = await this.#member.get(this.#member.in(path));
      if (status !== 200) {
        // A busy server refuses with 503; the dashboard tries again, too.
        process.stderr.write(`${path} was answered ${status}\n`);
        this.#running.set(path, true);
        await pause(1_000);
      }
      if (status !== 200 || path !== '/messages') continue;
      for (const { id } of json.messages as readonly { readonly id: string }[])
        if (!this.shownAtMs.has(id)) this.shownAtMs.set(id, performance.now());
    } while (this.#running.get(path));
    this.#running.delete(path);
  }
}

function print(without: readonly Cost[], beside: readonly Cost[], delaysMs: readonly number[]): void {
  const percent = (costs: readonly Cost[], of: keyof Cost) => 100 * median(costs.map((cost) => cost[of]));
  const more = (of: keyof Cost) => percent(beside, of) - percent(without, of);
  const total = more('node') + more('postgres');
  process.stdout.write(
    `dashboards: ${messagesPerSecond} messages a second take ${percent(without, 'node').toFixed(1)} % of a core in node and ${percent(without, 'postgres').toFixed(1)} % in PostgreSQL\n` +
      `${dashboards} dashboards add ${more('node').toFixed(1)} % and ${more('postgres').toFixed(1)} %, ${total.toFixed(1)} % in all (goal ≤ ${goalPercent})\n`,
  );
  printLatency('from the 202 of a message to its row', delaysMs, 1_000);
}
