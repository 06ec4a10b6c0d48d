import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const repository = fileURLToPath(new URL('..', import.meta.url));

/** The command behind `npm start` and `npm run ownline`. Without npm in between, a kill hits the service itself. */
const node = ['--import', './server/platform/process/node-version.mjs'];
const run = promisify(execFile);

const readyWithinMs = 60_000;
const stoppedWithinMs = 20_000;

interface OwnlineOptions {
  /** The checkout of the service; this one by default. */
  readonly repository?: string;
  /** An empty folder. */
  readonly dataDir: string;
  readonly logFile: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
}

/** The service under test and its embedded PostgreSQL, as processes to kill and start again. */
export class Ownline {
  readonly port: number;
  readonly baseUrl: string;
  readonly #options: OwnlineOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<NodeJS.Signals | number> = Promise.resolve(0);

  constructor(options: OwnlineOptions) {
    this.#options = options;
    this.port = options.port;
    this.baseUrl = `http://127.0.0.1:${options.port}`;
  }

  /** The signal or exit code that ended the last process. */
  get ended(): Promise<NodeJS.Signals | number> {
    return this.#ended;
  }

  /** Starts the service without waiting for it. @param failpoint where it dies, a value of the setting FAILPOINT */
  launch(failpoint?: string): void {
    const log = openSync(this.#options.logFile, 'a', 0o600);
    const child = spawn(process.execPath, [...node, 'server/main.ts'], {
      cwd: this.#folder,
      env: { ...this.#environment(), ...(failpoint === undefined ? {} : { FAILPOINT: failpoint }) },
      stdio: ['ignore', log, log],
      // A separate process group keeps the terminal's Ctrl-C from the service. The campaign stops the service.
      detached: true,
    });
    closeSync(log);
    this.#child = child;
    this.#ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(signal ?? code ?? 0));
    });
  }

  /** Waits until the service is ready. @returns false if it ended first @throws Error if it takes too long */
  async untilReady(): Promise<boolean> {
    const ended = this.#ended.then(() => false);
    const deadlineMs = performance.now() + readyWithinMs;
    while (performance.now() < deadlineMs) {
      if (await Promise.race([ended, isReady(this.baseUrl)])) return true;
      if (!this.isRunning) return false;
      await pause(20);
    }
    throw new Error(`Ownline was not ready within ${readyWithinMs} ms.`);
  }

  /** Starts the service and waits until it is ready. @throws Error with the last log lines if the process ends */
  async start(): Promise<void> {
    this.launch();
    if (await this.untilReady()) return;
    throw new Error(`Ownline ended with ${await this.#ended}.\n${await this.lastWords()}`);
  }

  /** The process id of the service. @throws Error if it doesn't run */
  get pid(): number {
    const pid = this.isRunning ? this.#child?.pid : undefined;
    if (pid === undefined) throw new Error('Ownline does not run.');
    return pid;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async kill(): Promise<void> {
    if (this.isRunning) this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  /** Kills PostgreSQL's first process with SIGKILL, and waits until the service has a database again. */
  async killDatabase(): Promise<void> {
    const pid = await this.postmasterPid();
    process.kill(pid, 'SIGKILL');
    const deadlineMs = performance.now() + readyWithinMs;
    while ((await this.#findPostmaster()) === pid || !(await isReady(this.baseUrl))) {
      if (performance.now() > deadlineMs) throw new Error('The database did not start again in time.');
      await pause(20);
    }
  }

  /** Stops the service, which stops its PostgreSQL. Processes that are left are killed. */
  async stop(): Promise<void> {
    if (this.isRunning) {
      this.#child?.kill('SIGTERM');
      await Promise.race([this.#ended, pause(stoppedWithinMs, undefined, { ref: false })]);
      await this.kill();
    }
    const pid = await this.#findPostmaster();
    if (pid === undefined) return;
    process.kill(pid, 'SIGQUIT');
    const deadlineMs = performance.now() + stoppedWithinMs;
    while ((await this.#findPostmaster()) !== undefined && performance.now() < deadlineMs) await pause(50);
  }

  /** The process id of the embedded PostgreSQL's postmaster. @throws Error if PostgreSQL doesn't run */
  async postmasterPid(): Promise<number> {
    const pid = await this.#findPostmaster();
    if (pid === undefined) throw new Error('The embedded PostgreSQL does not run.');
    return pid;
  }

  /** Runs a command of the command line beside the service. @returns its output, a JSON object */
  async command(...words: readonly string[]): Promise<Record<string, unknown>> {
    const printed = await this.commandOutput(...words);
    return typeof printed === 'object' && printed !== null ? { ...printed } : {};
  }

  /** Runs a command of the command line beside the service. @returns its output, any JSON value */
  async commandOutput(...words: readonly string[]): Promise<unknown> {
    const { stdout } = await run(process.execPath, [...node, 'server/cli/main.ts', ...words, '--json'], {
      cwd: this.#folder,
      env: this.#environment(),
      maxBuffer: 16 * 1024 * 1024,
    });
    return JSON.parse(stdout);
  }

  /** The API key that the first start wrote to a file. */
  async firstKey(): Promise<string> {
    const text = await readFile(join(this.#options.dataDir, 'first-start.txt'), 'utf8');
    return /own_live_\w+/.exec(text)?.[0] ?? '';
  }

  async lastWords(): Promise<string> {
    return (await this.log()).slice(-4_000);
  }

  log(): Promise<string> {
    return readFile(this.#options.logFile, 'utf8').catch(() => '');
  }

  get #folder(): string {
    return this.#options.repository ?? repository;
  }

  #environment(): NodeJS.ProcessEnv {
    const { PATH, HOME, TMPDIR } = process.env;
    return { PATH, HOME, TMPDIR, ...this.#options.settings, ...this.#ownPlaces() };
  }

  #ownPlaces() {
    const { dataDir, port } = this.#options;
    return { DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: String(port) };
  }

  /** The process id of this data folder's PostgreSQL, if it runs. Its pid file is still there after a kill. */
  async #findPostmaster(): Promise<number | undefined> {
    const folder = join(this.#options.dataDir, 'pg');
    const [line, recorded] = (await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')).split(
      '\n',
    );
    const pid = Number(line);
    if (recorded !== folder || !(pid > 1)) return undefined;
    return isAlive(pid) ? pid : undefined;
  }
}

/** Whether the service at this address can serve requests. */
export function isReady(baseUrl: string): Promise<boolean> {
  return fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
