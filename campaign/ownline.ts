import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const repository = fileURLToPath(new URL('..', import.meta.url));

/** The command of `npm start` and `npm run ownline`, without npm in between: the killed process is the service. */
const node = ['--import', './server/platform/process/node-version.mjs'];
const run = promisify(execFile);

const readyWithinMs = 60_000;
const stoppedWithinMs = 20_000;

interface OwnlineOptions {
  /** The checkout whose service is started; without it this one's. */
  readonly repository?: string;
  /** An empty folder of the campaign's own. */
  readonly dataDir: string;
  readonly logFile: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
}

/** The service under test and its embedded PostgreSQL, as processes to be killed and started again. */
export class Ownline {
  readonly baseUrl: string;
  readonly #options: OwnlineOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<NodeJS.Signals | number> = Promise.resolve(0);

  constructor(options: OwnlineOptions) {
    this.#options = options;
    this.baseUrl = `http://127.0.0.1:${options.port}`;
  }

  /** How the process that was started last ended: the signal, or the exit code. */
  get ended(): Promise<NodeJS.Signals | number> {
    return this.#ended;
  }

  /** Starts a process and doesn't wait for it. @param failpoint where it is to die, as the setting FAILPOINT says it */
  launch(failpoint?: string): void {
    const log = openSync(this.#options.logFile, 'a', 0o600);
    const child = spawn(process.execPath, [...node, 'server/main.ts'], {
      cwd: this.#folder,
      env: { ...this.#environment(), ...(failpoint === undefined ? {} : { FAILPOINT: failpoint }) },
      stdio: ['ignore', log, log],
      // In a group of its own: a Ctrl-C is for the campaign, which then ends the service itself.
      detached: true,
    });
    closeSync(log);
    this.#child = child;
    this.#ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(signal ?? code ?? 0));
    });
  }

  /** @returns false where the process ended first @throws where neither happens in time */
  async untilReady(): Promise<boolean> {
    const ended = this.#ended.then(() => false);
    const deadlineMs = performance.now() + readyWithinMs;
    while (performance.now() < deadlineMs) {
      const isReady = await Promise.race([ended, this.#isReady()]);
      if (isReady) return true;
      if (!this.isRunning) return false;
      await pause(20);
    }
    throw new Error(`Ownline was not ready within ${readyWithinMs} ms.`);
  }

  /** @throws where it ends instead, with the end of its log */
  async start(): Promise<void> {
    this.launch();
    if (await this.untilReady()) return;
    throw new Error(`Ownline ended with ${await this.#ended}.\n${await this.lastWords()}`);
  }

  /** The pid of the service. @throws where it doesn't run */
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

  /** Ends PostgreSQL's first process as a machine would, and waits until the service has its database again. */
  async killDatabase(): Promise<void> {
    const pid = await this.postmasterPid();
    process.kill(pid, 'SIGKILL');
    const deadlineMs = performance.now() + readyWithinMs;
    while ((await this.#findPostmaster()) === pid || !(await this.#isReady())) {
      if (performance.now() > deadlineMs) throw new Error('The database did not come back.');
      await pause(20);
    }
  }

  /** The way out: the service stops its PostgreSQL; where it can't, both are ended. */
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

  /** The pid of the embedded PostgreSQL's first process. @throws where it doesn't run */
  async postmasterPid(): Promise<number> {
    const pid = await this.#findPostmaster();
    if (pid === undefined) throw new Error('The embedded PostgreSQL does not run.');
    return pid;
  }

  /** A command of the command line, beside the running service. @returns its output as JSON: an object */
  async command(...words: readonly string[]): Promise<Record<string, unknown>> {
    const printed = await this.commandOutput(...words);
    return typeof printed === 'object' && printed !== null ? { ...printed } : {};
  }

  /** The same for a command that prints anything else. */
  async commandOutput(...words: readonly string[]): Promise<unknown> {
    const { stdout } = await run(process.execPath, [...node, 'server/cli/main.ts', ...words, '--json'], {
      cwd: this.#folder,
      env: this.#environment(),
      maxBuffer: 16 * 1024 * 1024,
    });
    return JSON.parse(stdout);
  }

  /** The key that the first start left behind. */
  async firstKey(): Promise<string> {
    const text = await readFile(join(this.#options.dataDir, 'first-start.txt'), 'utf8');
    return /own_live_\w+/.exec(text)?.[0] ?? '';
  }

  async lastWords(): Promise<string> {
    const log = await readFile(this.#options.logFile, 'utf8').catch(() => '');
    return log.slice(-4_000);
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

  #isReady(): Promise<boolean> {
    return fetch(`${this.baseUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.ok;
      },
      () => false,
    );
  }

  /** The pid of the PostgreSQL of this data folder, while it runs. The file outlives a killed one. */
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

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
