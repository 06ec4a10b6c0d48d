import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { send } from '../stops/processes.ts';
import { Daemon } from './daemon.ts';
import { postgresPrograms, readDeployed } from './files.ts';

const run = promisify(execFile);

export interface NodeOptions {
  readonly name: string;
  /** Its folder, which does not exist yet. */
  readonly folder: string;
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  readonly ports: { readonly database: number; readonly patroni: number; readonly etcd: number };
}

/** Patroni's answer about its node. */
interface State {
  readonly timeline?: number;
  readonly replication?: readonly { readonly state: string }[];
}

/** A machine of the cluster: Patroni with its PostgreSQL. */
export class DatabaseNode {
  readonly name: string;
  readonly #options: NodeOptions;
  readonly #patroni: Daemon;
  readonly #byHand: Daemon;

  constructor(options: NodeOptions) {
    const { name, folder, user } = options;
    this.name = name;
    this.#options = options;
    this.#patroni = new Daemon({
      words: ['/usr/bin/python3', '/usr/bin/patroni', join(folder, 'patroni.yml')],
      logFile: `${folder}.log`,
      user,
    });
    this.#byHand = new Daemon({
      words: [`${postgresPrograms}/postgres`, '-D', this.#data, '-c', 'synchronous_standby_names='],
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

  /** Starts PostgreSQL without Patroni, which would make a former primary a standby. */
  startByHand(): void {
    this.#byHand.start();
  }

  /** Runs statements in its database. */
  async sql(text: string): Promise<void> {
    await run(`${postgresPrograms}/psql`, ['-X', '-v', 'ON_ERROR_STOP=1', this.url, '-c', text]);
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

  /** The timeline of this primary, and the number of standbys that stream from it. */
  async state(): Promise<{ readonly timeline: number; readonly streams: number }> {
    const url = `http://127.0.0.1:${this.#options.ports.patroni}/patroni`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    const body = (await answer?.json().catch(() => undefined)) as State | undefined;
    const streams = body?.replication?.filter(({ state }) => state === 'streaming').length ?? 0;
    return { timeline: body?.timeline ?? 0, streams };
  }

  /** Hands the primary's role over to another node, as `patronictl switchover` does. */
  switchOver(candidate: DatabaseNode): Promise<void> {
    return this.#ask('POST', '/switchover', { leader: this.name, candidate: candidate.name });
  }

  /** Changes the settings of the cluster, as `patronictl edit-config` does. */
  configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#ask('PATCH', '/config', settings);
  }

  async #ask(method: string, path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    const url = `http://127.0.0.1:${this.#options.ports.patroni}${path}`;
    const answer = await fetch(url, { method, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Patroni answered ${method} ${path} with ${answer.status}: ${text}`);
  }

  /** Signals PostgreSQL and Patroni: a stop freezes every process, as the pause of a machine does. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of this.#processes()) send(pid, name);
    this.#patroni.signal(name);
  }

  /** Signals the process that receives the primary's log. */
  signalReceiver(name: NodeJS.Signals): void {
    for (const pid of this.#processes()) if (/walreceiver/.test(commandOf(pid))) send(pid, name);
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
    const [line, recorded] = read(join(this.#data, 'postmaster.pid')).split('\n');
    const postmaster = Number(line);
    const isOurs = recorded === this.#data && commandOf(postmaster).includes(this.#data);
    if (!isOurs) return [];
    const children = read(`/proc/${postmaster}/task/${postmaster}/children`).trim().split(' ');
    return [postmaster, ...children.filter((word) => word !== '').map(Number)];
  }

  get #data(): string {
    return join(this.#options.folder, 'data');
  }
}

const commandOf = (pid: number) => read(`/proc/${pid}/cmdline`);

/** Zombies have an empty command. */
const isAlive = (pid: number) => commandOf(pid) !== '';

/** Reads a file, which may be missing. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
