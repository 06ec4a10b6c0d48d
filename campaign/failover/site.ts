import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
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
  readonly #balancerSocket: string;

  private constructor(
    apiPort: number,
    nodes: readonly DatabaseNode[],
    processes: readonly Ownline[],
    daemons: { readonly etcd: Daemon; readonly haproxy: Daemon },
    balancerSocket: string,
  ) {
    this.baseUrl = `http://127.0.0.1:${apiPort}`;
    [this.nodes, this.processes, this.#etcd, this.#haproxy] = [
      nodes,
      processes,
      daemons.etcd,
      daemons.haproxy,
    ];
    this.#balancerSocket = balancerSocket;
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
      DEVICE_HOLD_SECONDS: '25',
      DEVICE_LEASE_SECONDS: '60',
      ...readSettings('ownline.env', {
        '127.0.0.1:5500': `127.0.0.1:${databasePort}`,
        'https://texts.example.com': `http://127.0.0.1:${apiPort}`,
        '10.0.0.11,10.0.0.12,10.0.0.13': '127.0.0.1',
        'BACKUP_DIR=/var/backups/ownline\nBACKUP_PASSPHRASE_FILE=/etc/ownline.passphrase\n': '',
        'replace-secrets-key': randomBytes(32).toString('base64'),
      }),
    };
    const processes = ports.map(({ ownline }, index) => {
      const place = join(folder, `ownline-${names[index]}`);
      return new Ownline({ dataDir: place, logFile: `${place}.log`, port: ownline, settings });
    });
    const [balancer, socket] = [join(folder, 'haproxy.cfg'), join(folder, 'haproxy.sock')];
    const servers = ports.flatMap(({ database, patroni, ownline }, index) => [
      [`10.0.0.1${index + 1}:5432 check port 8008`, `127.0.0.1:${database} check port ${patroni}`],
      [`10.0.0.1${index + 1}:3000`, `127.0.0.1:${ownline}`],
    ]);
    await writeFile(
      balancer,
      readDeployed('haproxy.cfg', {
        // An ordinary user may open fewer files.
        'maxconn 20000\n  user haproxy\n  group haproxy': `maxconn 1000\n  stats socket ${socket} level admin`,
        '127.0.0.1:5500\n': `127.0.0.1:${databasePort}\n`,
        ':443 ssl crt /etc/haproxy/texts.example.com.pem': `127.0.0.1:${apiPort}`,
        'X-Forwarded-Proto https': 'X-Forwarded-Proto http',
        ...Object.fromEntries(servers),
      }),
    );
    const etcd = new Daemon({
      words: ['/usr/bin/etcd'],
      logFile: join(folder, 'etcd.log'),
      environment: {
        ...readSettings('etcd.env', {
          ',b=http://10.0.0.12:2380,c=http://10.0.0.13:2380': '',
          '10.0.0.11:2379': `127.0.0.1:${etcdPort}`,
          '10.0.0.11:2380': `127.0.0.1:${peerPort}`,
        }),
        ETCD_DATA_DIR: join(folder, 'etcd'),
      },
    });
    const haproxy = new Daemon({
      words: ['/usr/sbin/haproxy', '-db', '-f', balancer],
      logFile: join(folder, 'haproxy.log'),
    });
    return new Site(apiPort, nodes, processes, { etcd, haproxy }, socket);
  }

  /** Starts everything, the first process before the others, because it creates the tables. */
  async start(signal: AbortSignal): Promise<void> {
    this.#etcd.start();
    this.#haproxy.start();
    for (const node of this.nodes) node.start();
    await until('the cluster has no synchronous standby', async () => !!(await this.find('sync')), signal);
    for (const process of this.processes) await process.start();
    await until('the cluster is not whole', () => this.isWhole(), signal);
    await until('haproxy passes nothing on', () => isReady(this.baseUrl), signal);
  }

  /** Ends everything. The databases are of no use afterwards, so nothing of theirs is saved. */
  async end(): Promise<void> {
    await Promise.allSettled(this.processes.map((process) => process.stop()));
    for (const node of this.nodes) node.signal('SIGCONT');
    await Promise.allSettled([...this.nodes, this.#haproxy, this.#etcd].map((part) => part.kill()));
  }

  /** Gives commands to haproxy, which overrule its checks. */
  async balance(...commands: readonly string[]): Promise<void> {
    const socket = connect(this.#balancerSocket).end(`${commands.join(';')}\n`);
    await once(socket.resume(), 'close');
  }

  /** The number of promotions so far. */
  async promotions(): Promise<number> {
    return (await this.get('primary')).state().then(({ timeline }) => timeline);
  }

  /** Whether the primary has a synchronous standby, both other nodes stream from it, and all processes serve. */
  async isWhole(): Promise<boolean> {
    const [primary, standby] = [await this.find('primary'), await this.find('sync')];
    if (standby === undefined || (await primary?.state())?.streams !== 2) return false;
    const served = await Promise.all(this.processes.map(({ baseUrl }) => isReady(baseUrl)));
    return served.every(Boolean);
  }

  /** The answers of the processes to GET /readyz; '' for none. */
  readiness(): Promise<string[]> {
    return Promise.all(
      this.processes.map(({ baseUrl }) =>
        fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(3_000) }).then(
          (answer) => answer.text(),
          () => '',
        ),
      ),
    );
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
    return this.first.command(...words);
  }

  firstKey(): Promise<string> {
    return this.first.firstKey();
  }

  /** The process whose DATA_DIR has the first API key. */
  get first(): Ownline {
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

/** Reads the settings of a deployed file. */
function readSettings(name: string, places: Readonly<Record<string, string>>): Record<string, string> {
  const lines = readDeployed(name, places).matchAll(/^(\w+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, key = '', value = '']) => [key, value]));
}

async function freePorts(): Promise<[number, number, number, number]> {
  return [await freePort(), await freePort(), await freePort(), await freePort()];
}
