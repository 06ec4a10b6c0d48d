import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, globSync, openSync } from 'node:fs';
import { chown, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const stoppedWithinMs = 20_000;

interface PostgresOptions {
  /** DATA_DIR of a stopped Ownline that used its embedded PostgreSQL. */
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs the embedded PostgreSQL of a stopped Ownline, so that the service can use it as an operator's own database. */
export class Postgres {
  readonly #options: PostgresOptions;
  readonly #socketFolder: string;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: PostgresOptions) {
    this.#options = options;
    this.#socketFolder = join(options.dataDir, 'own-socket');
  }

  get url(): string {
    return `postgresql://ownline@localhost/ownline?host=${encodeURIComponent(this.#socketFolder)}`;
  }

  async start(): Promise<void> {
    const { dataDir, environment } = this.#options;
    const folder = join(dataDir, 'pg');
    const [program] = globSync(join(dataDir, 'engine/*/bin/postgres'));
    if (program === undefined) throw new Error(`There is no PostgreSQL in ${dataDir}.`);
    const { uid, gid } = await stat(folder);
    await mkdir(this.#socketFolder, { recursive: true, mode: 0o700 });
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await chown(this.#socketFolder, uid, gid);
    const log = openSync(join(dataDir, 'own-postgres.log'), 'a', 0o600);
    const settings = {
      listen_addresses: '',
      unix_socket_directories: this.#socketFolder,
      max_connections: '100',
    };
    const child = spawn(
      program,
      ['-D', folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      {
        cwd: '/',
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', ...environment },
        stdio: ['ignore', log, log],
        detached: true,
        ...(isRoot ? { uid, gid } : {}),
      },
    );
    closeSync(log);
    this.#child = child;
    this.#ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
    this.#ended.catch(() => undefined);
  }

  /** Requests a fast shutdown, and an immediate one if that takes too long. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGINT');
    const impatience = setTimeout(() => child.kill('SIGQUIT'), stoppedWithinMs);
    await this.#ended;
    clearTimeout(impatience);
  }
}
