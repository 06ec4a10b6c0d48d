import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRuntime } from '#server/app/open-runtime.ts';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import type { HandOuts } from './life/report-hand-outs.ts';

export type Served = Awaited<ReturnType<typeof launch>>;

interface Launch {
  readonly args?: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
  /** The port of the server; by default a free port. */
  readonly port?: number;
  /** The checkout that contains the script; by default this checkout. */
  readonly folder?: string;
  /** Gets the hand-outs that the script reports. */
  readonly onHandOuts?: (handOuts: HandOuts) => void;
}

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Settings of a service without rate limits and pacing, which would otherwise bound what a bench measures. */
export function unlimited(dataDir: string): Record<string, string> {
  return { DATA_DIR: dataDir, RATE_LIMITS: 'off', PACING: 'off', LOG_LEVEL: 'warn' };
}

/** A first start on a busy machine takes long. */
const startMaxMs = 120_000;

/** Runs a server in a child process, with its port as the last argument, and waits until it answers a request. */
export async function launch(
  script: string,
  { args = [], settings = {}, port, folder = root, onHandOuts }: Launch = {},
) {
  const chosen = String(port ?? (await freePort()));
  const child = spawn(process.execPath, [script, ...args, chosen], {
    cwd: folder,
    env: { ...process.env, PORT: chosen, ...settings },
    stdio: ['ignore', 'ignore', 'inherit', ...(onHandOuts ? ['ipc' as const] : [])],
  });
  if (onHandOuts) child.on('message', onHandOuts);
  const origin = `http://127.0.0.1:${chosen}`;
  const ended = async () => {
    if (child.exitCode !== null) throw new Error(`${script} ended before it answered a request`);
    return false;
  };
  const answers = () => fetch(origin).then(() => true, ended);
  await until(`${script} answers`, answers, startMaxMs).catch((error) => {
    child.kill('SIGTERM');
    throw error;
  });
  return {
    origin,
    pid: child.pid ?? 0,
    stop: async () => {
      if (child.exitCode !== null) return;
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** The folder of a benchmark, with the servers and the runtime that `close` ends before it removes the folder. */
export class Servers {
  readonly dataDir: string;
  readonly #closing: (() => Promise<void>)[] = [];

  private constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  /** @param dataDir an existing folder, which is kept; by default a new one */
  static async open(dataDir?: string): Promise<Servers> {
    const servers = new Servers(dataDir ?? (await mkdtemp(join(tmpdir(), 'ownline-bench-'))));
    if (!dataDir) servers.#closing.push(() => rm(servers.dataDir, { recursive: true, force: true }));
    return servers;
  }

  async start(script: string, options: Launch = {}): Promise<Served> {
    const server = await launch(script, options);
    this.#closing.push(server.stop);
    return server;
  }

  /** Opens a runtime of this process on the database of the service that runs in the folder. */
  async openRuntime(settings: Readonly<Record<string, string>>): Promise<Runtime> {
    const databaseUrl = await findEngineUrl(this.dataDir);
    const config = readConfig({ ...settings, DATABASE_URL: databaseUrl });
    const runtime = await openRuntime(config, databaseUrl, createLogger('warn'));
    this.#closing.push(() => runtime.database.close());
    return runtime;
  }

  async close(): Promise<void> {
    for (const close of this.#closing.reverse()) await close();
  }
}
