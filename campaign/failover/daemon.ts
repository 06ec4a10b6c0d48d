import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

export interface DaemonOptions {
  readonly words: readonly [string, ...string[]];
  readonly logFile: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The user and group that run it; this process's by default. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

/** A program that runs in the background until it is signalled, and may be started again. */
export class Daemon {
  readonly #options: DaemonOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: DaemonOptions) {
    this.#options = options;
  }

  start(): void {
    const { words, logFile, environment, user } = this.#options;
    const [program, ...args] = words;
    const log = openSync(logFile, 'a', 0o600);
    const child = spawn(program, args, {
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', ...environment },
      stdio: ['ignore', log, log],
      // The terminal's Ctrl-C does not reach it: the campaign ends it.
      detached: true,
      ...user,
    });
    closeSync(log);
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('error', resolve);
      child.once('exit', resolve);
    });
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  signal(name: NodeJS.Signals): void {
    if (this.isRunning) this.#child?.kill(name);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#ended;
  }
}
