import { readFileSync } from 'node:fs';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { send } from '../stops/processes.ts';
import { Daemon } from './daemon.ts';
import { readDeployed } from './files.ts';

export interface NodeOptions {
  readonly name: string;
  /** Its folder, which does not exist yet. */
  readonly folder: string;
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  readonly ports: { readonly database: number; readonly patroni: number; readonly etcd: number };
}

/** A machine of the cluster: Patroni with its PostgreSQL. */
export class DatabaseNode {
  readonly name: string;
  readonly #options: NodeOptions;
  readonly #patroni: Daemon;

  constructor(options: NodeOptions) {
    const { name, folder, user } = options;
    this.name = name;
    this.#options = options;
    this.#patroni = new Daemon({
      words: ['/usr/bin/python3', '/usr/bin/patroni', join(folder, 'patroni.yml')],
      logFile: `${folder}.log`,
      user,
    });
  }

  /** Its database, without the balancer in between, as the superuser. */
  get url(): string {
    return `postgresql://postgres:replace-superuser@127.0.0.1:${this.#options.ports.database}/postgres`;
  }

  async create(): Promise<void> {
    const { name, folder, ports, user } = this.#options;
    const script = join(folder, 'create-database');
    const configuration = readDeployed('patroni.yml', {
      'name: a\n': `name: ${name}\n`,
      '10.0.0.11:2379,10.0.0.12:2379,10.0.0.13:2379': `127.0.0.1:${ports.etcd}`,
      '10.0.0.11:8008': `127.0.0.1:${ports.patroni}`,
      '10.0.0.11:5432': `127.0.0.1:${ports.database}`,
      '10.0.0.0/24': '127.0.0.1/32',
      '/etc/patroni/create-database': script,
      '/var/lib/postgresql/15/ownline': join(folder, 'data'),
      '/var/lib/postgresql/patroni.pgpass': join(folder, 'pgpass'),
      '/var/run/postgresql': folder,
      // A frozen Patroni would restart this machine.
      'mode: automatic': 'mode: "off"',
    });
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, 'patroni.yml'), configuration);
    await writeFile(script, readDeployed('create-database', {}), { mode: 0o700 });
    if (user) for (const path of [folder, script]) await chown(path, user.uid, user.gid);
  }

  start(): void {
    this.#patroni.start();
  }

  /** Whether Patroni says so of its node: GET /primary or /sync. */
  async is(role: 'primary' | 'sync'): Promise<boolean> {
    const url = `http://127.0.0.1:${this.#options.ports.patroni}/${role}`;
    return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.ok;
      },
      () => false,
    );
  }

  /** The number of standbys that stream from this primary. */
  async streams(): Promise<number> {
    const url = `http://127.0.0.1:${this.#options.ports.patroni}/patroni`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    const body = (await answer?.json()) as { readonly replication?: readonly { readonly state: string }[] };
    return body?.replication?.filter(({ state }) => state === 'streaming').length ?? 0;
  }

  /** Hands the primary's role over to another node, as `patronictl switchover` does. */
  async switchOver(candidate: DatabaseNode): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${this.#options.ports.patroni}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: this.name, candidate: candidate.name }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Patroni answered the switchover ${answer.status}: ${text}`);
  }

  /** Signals PostgreSQL and Patroni: a stop freezes every process, as the pause of a machine does. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of this.#processes()) send(pid, name);
    this.#patroni.signal(name);
  }

  /** Ends Patroni and PostgreSQL at once, as a loss of power does. */
  async kill(): Promise<void> {
    const pids = this.#processes();
    for (const pid of pids) send(pid, 'SIGKILL');
    await this.#patroni.kill();
    while (pids.some(isAlive)) await pause(20);
  }

  /** The postmaster and its children. */
  #processes(): number[] {
    const read = (path: string) => {
      try {
        return readFileSync(path, 'utf8');
      } catch {
        return '';
      }
    };
    const data = join(this.#options.folder, 'data');
    const [line, recorded] = read(join(data, 'postmaster.pid')).split('\n');
    const postmaster = Number(line);
    const isOurs = recorded === data && read(`/proc/${postmaster}/cmdline`).includes(data);
    if (!isOurs) return [];
    const children = read(`/proc/${postmaster}/task/${postmaster}/children`).trim().split(' ');
    return [postmaster, ...children.filter((word) => word !== '').map(Number)];
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
