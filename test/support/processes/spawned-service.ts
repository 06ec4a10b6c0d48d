import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

export const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** A service in a separate process, which tests may kill. */
export type SpawnedService = Awaited<ReturnType<typeof spawnService>>;

interface SpawnOptions {
  readonly settings: Readonly<Record<string, string>>;
  readonly port?: number;
  /** Command that is run instead of `node server/main.ts`. */
  readonly command?: readonly [string, ...string[]];
  readonly movesClock?: boolean;
  /** User of the process, which root may choose. */
  readonly as?: { readonly uid: number; readonly gid: number };
}

/** Starts a process without waiting until it is ready. */
export async function launchService(options: SpawnOptions) {
  const { settings, port, command, movesClock = false } = options;
  const chosen = port ?? (await freePort());
  const [program, ...args] = command ?? [process.execPath, 'server/main.ts'];
  await copyCluster(settings, options.as);
  const child = spawn(program, args, {
    cwd: repository,
    env: {
      ...process.env,
      PORT: String(chosen),
      LOG_LEVEL: 'warn',
      RATE_LIMITS: 'off',
      PACING: 'off',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe', ...(movesClock ? (['ipc'] as const) : [])],
    ...options.as,
  });
  let printed = '';
  let logged = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    logged += text;
  });
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
    child.once('exit', (code, signal) => resolve(signal ?? code)),
  );
  return {
    baseUrl: `http://127.0.0.1:${chosen}`,
    child,
    /** Output so far, standard error included. */
    output: () => printed,
    /** Standard error, which has the log. */
    log: () => logged,
    /** Resolves once the process has ended, with its exit code or signal. */
    ended,
    /** Sends a signal and waits for the end. @returns the exit code, null after a signal */
    kill: async (signal: NodeJS.Signals) => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}

/**
 * Copies the empty cluster of the run (TEST_CLUSTER) into an empty DATA_DIR, which saves two seconds of CPU. A
 * service of another user, with a DATABASE_URL, or that makes its DATA_DIR itself gets none.
 */
async function copyCluster(
  { DATA_DIR, DATABASE_URL }: Readonly<Record<string, string>>,
  as: SpawnOptions['as'],
): Promise<void> {
  const { TEST_CLUSTER } = process.env;
  if (!TEST_CLUSTER || !DATA_DIR || DATABASE_URL || as) return;
  const found = await readdir(DATA_DIR).catch(() => undefined);
  if (found?.length === 0) await promisify(execFile)('cp', ['-a', TEST_CLUSTER, join(DATA_DIR, 'pg')]);
}

/** A first start makes a database cluster, which takes most of a minute on two cores with a load of 20. */
const readyMaxMs = 120_000;

/** Starts a process and waits until it is ready. @throws with its output if it ends before */
export async function spawnService(options: SpawnOptions) {
  const service = await launchService(options);
  const { baseUrl, child } = service;
  const isReady = async () => {
    const end = child.signalCode ?? child.exitCode;
    if (end !== null) throw new Error(`the service ended with ${end}:\n${service.output()}`);
    return fetch(`${baseUrl}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
  };
  await until('the service is ready', isReady, readyMaxMs);
  return {
    ...service,
    /** Moves the clock of a process that was started with `movesClock`. */
    advance: async (advanceMs: number) => {
      const moved = once(child, 'message');
      child.send({ advanceMs });
      await moved;
    },
  };
}

/** API key that the first start wrote. */
export async function firstKey(dataDir: string): Promise<string> {
  return /own_live_\w+/.exec(await readFirstStart(dataDir))?.[0] ?? '';
}

/** Owner link that the first start wrote. */
export async function firstLink(dataDir: string): Promise<string> {
  return /http:\S+\/invite\/\S+/.exec(await readFirstStart(dataDir))?.[0] ?? '';
}

function readFirstStart(dataDir: string): Promise<string> {
  return readFile(join(dataDir, 'first-start.txt'), 'utf8');
}
