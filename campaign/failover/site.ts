import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { isReady, Ownline } from '../ownline.ts';
import { killSettings } from '../settings.ts';
import type { Installation } from '../world.ts';
import { Daemon } from './daemon.ts';
import { databaseUser, readDeployed } from './files.ts';
import { DatabaseNode } from './node.ts';

const names = ['a', 'b', 'c'] as const;
const startedWithinMs = 120_000;

/** Three machines on loopback, as deploy/ha sets them up: etcd, haproxy, and a database and an Ownline for each. */
export class Site implements Installation {
  readonly baseUrl: string;
  readonly nodes: readonly DatabaseNode[];
  readonly processes: readonly Ownline[];
  readonly #etcd: Daemon;
  readonly #haproxy: Daemon;

  private constructor(
    apiPort: number,
    nodes: readonly DatabaseNode[],
    processes: readonly Ownline[],
    daemons: { readonly etcd: Daemon; readonly haproxy: Daemon },
  ) {
    this.baseUrl = `http://127.0.0.1:${apiPort}`;
    [this.nodes, this.processes, this.#etcd, this.#haproxy] = [
      nodes,
      processes,
      daemons.etcd,
      daemons.haproxy,
    ];
  }

  /** Writes the files of three machines to a new folder. */
  static async create(folder: string): Promise<Site> {
    const [etcdPort, peerPort, databasePort, apiPort] = await freePorts();
    const ports = await Promise.all(
      names.map(async () => {
        const [database, patroni, ownline] = await freePorts();
        return { database, patroni, ownline, etcd: etcdPort };
      }),
    );
    const user = databaseUser();
    const nodes = ports.map(
      (own, index) =>
        new DatabaseNode({
          name: `${names[index]}`,
          folder: join(folder, `${names[index]}`),
          user,
          ports: own,
        }),
    );
    for (const node of nodes) await node.create();
    const settings = {
      ...killSettings,
      DATABASE_URL: `postgresql://ownline:replace-ownline@127.0.0.1:${databasePort}/ownline`,
      BASE_URL: `http://127.0.0.1:${apiPort}`,
      TRUST_PROXY: '127.0.0.1',
      SECRETS_KEY: randomBytes(32).toString('base64'),
    };
    const processes = ports.map(({ ownline }, index) => {
      const place = join(folder, `ownline-${names[index]}`);
      return new Ownline({ dataDir: place, logFile: `${place}.log`, port: ownline, settings });
    });
    const balancer = join(folder, 'haproxy.cfg');
    const servers = ports.flatMap(({ database, patroni, ownline }, index) => [
      [`10.0.0.1${index + 1}:5432 check port 8008`, `127.0.0.1:${database} check port ${patroni}`],
      [`10.0.0.1${index + 1}:3000`, `127.0.0.1:${ownline}`],
    ]);
    await writeFile(
      balancer,
      readDeployed('haproxy.cfg', {
        // An ordinary user may open fewer files.
        'maxconn 20000': 'maxconn 1000',
        '127.0.0.1:5500\n': `127.0.0.1:${databasePort}\n`,
        ':443 ssl crt /etc/haproxy/texts.example.com.pem': `127.0.0.1:${apiPort}`,
        'X-Forwarded-Proto https': 'X-Forwarded-Proto http',
        ...Object.fromEntries(servers),
      }),
    );
    const etcd = new Daemon({
      words: ['/usr/bin/etcd'],
      logFile: join(folder, 'etcd.log'),
      environment: { ...etcdSettings(etcdPort, peerPort), ETCD_DATA_DIR: join(folder, 'etcd') },
    });
    const haproxy = new Daemon({
      words: ['/usr/sbin/haproxy', '-db', '-f', balancer],
      logFile: join(folder, 'haproxy.log'),
    });
    return new Site(apiPort, nodes, processes, { etcd, haproxy });
  }

  /** Starts everything, the first process before the others, because it creates the tables. */
  async start(signal: AbortSignal): Promise<void> {
    this.#etcd.start();
    this.#haproxy.start();
    for (const node of this.nodes) node.start();
    await until('the cluster has no synchronous standby', () => this.isWhole(), signal);
    for (const process of this.processes) await process.start();
    await until('haproxy passes nothing on', () => isReady(this.baseUrl), signal);
  }

  /** Ends everything. The databases are of no use afterwards, so nothing of theirs is saved. */
  async end(): Promise<void> {
    await Promise.allSettled(this.processes.map((process) => process.stop()));
    for (const node of this.nodes) node.signal('SIGCONT');
    await Promise.allSettled([...this.nodes, this.#haproxy, this.#etcd].map((part) => part.kill()));
  }

  /** Whether the primary has a synchronous standby, and both other nodes stream from it. */
  async isWhole(): Promise<boolean> {
    const [primary, standby] = [await this.find('primary'), await this.find('sync')];
    return standby !== undefined && (await primary?.streams()) === 2;
  }

  async find(role: 'primary' | 'sync'): Promise<DatabaseNode | undefined> {
    const are = await Promise.all(this.nodes.map((node) => node.is(role)));
    const found = this.nodes.filter((_, index) => are[index]);
    return found.length === 1 ? found[0] : undefined;
  }

  async get(role: 'primary' | 'sync'): Promise<DatabaseNode> {
    const node = await this.find(role);
    if (node) return node;
    throw new Error(`The cluster has no node that is ${role}.`);
  }

  command(...words: readonly string[]): Promise<Record<string, unknown>> {
    return this.#first.command(...words);
  }

  firstKey(): Promise<string> {
    return this.#first.firstKey();
  }

  get #first(): Ownline {
    const [first] = this.processes;
    if (first) return first;
    throw new Error('There is no process.');
  }
}

/** Waits for a state. @throws Error with what is wrong, if it takes too long */
export async function until(
  wrong: string,
  isReached: () => Promise<boolean>,
  signal: AbortSignal,
  withinMs = startedWithinMs,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await isReached())) {
    if (performance.now() > deadlineMs) throw new Error(`After ${withinMs / 1_000} s ${wrong}.`);
    await pause(200, undefined, { signal });
  }
}

/** The settings of the deployed file, for a single member. */
function etcdSettings(client: number, peer: number): Record<string, string> {
  const text = readDeployed('etcd.env', {
    ',b=http://10.0.0.12:2380,c=http://10.0.0.13:2380': '',
    '10.0.0.11:2379': `127.0.0.1:${client}`,
    '10.0.0.11:2380': `127.0.0.1:${peer}`,
  });
  return Object.fromEntries(
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
}

async function freePorts(): Promise<[number, number, number, number]> {
  return [await freePort(), await freePort(), await freePort(), await freePort()];
}
