import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isReady, Ownline, repository } from '../ownline.ts';
import { Load } from './load.ts';
import { processesOf, send } from './processes.ts';
import type { Way } from './ways.ts';

const limitMs = 120_000;

/** Phases of a start, in their order. An outcome names the phase in which the stop came. */
export const phases = ['before', 'copying', 'initdb', 'starting', 'ready'] as const;
export type Phase = (typeof phases)[number];

export type Outcome = Awaited<ReturnType<typeof runOnce>>;

interface RunOptions {
  readonly way: Way;
  readonly dataDir: string;
  readonly port: number;
  /** The time from the start, or from the beginning of the load, to the stop. */
  readonly stopAfterMs: number;
  /** The key of the API with which clients send once the service is ready; undefined: no client sends. */
  readonly key: string | undefined;
  readonly signal: AbortSignal;
}

/** Starts the service, stops it in the given way, and collects the outcome. */
export async function runOnce(options: RunOptions) {
  const { way, dataDir, stopAfterMs, key } = options;
  const startedMs = performance.now();
  const child = launch(options);
  const baseUrl = `http://127.0.0.1:${options.port}`;
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text));
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ?? code ?? 0));
  });
  const isOver = ended.then(() => true as const);
  let load: Load | undefined;
  let phase: Phase = 'before';
  try {
    if (key !== undefined) {
      await until('it is ready', () => isReady(baseUrl), isOver, options.signal);
      load = new Load(baseUrl, key);
    }
    if (way.stop) {
      if (key === undefined)
        await until('the service begins', () => existsSync(dataDir), isOver, options.signal);
      await pause(stopAfterMs, undefined, { signal: options.signal });
      phase = await phaseOf(dataDir, baseUrl);
      load?.expectStop(performance.now());
      way.stop({ child, dataDir });
    } else {
      load?.expectStop(startedMs + stopAfterMs);
      // The phase is read shortly before the command sends its signal.
      const leftMs = stopAfterMs - (performance.now() - startedMs) - 50;
      await Promise.race([isOver, pause(Math.max(0, leftMs), undefined, { signal: options.signal })]);
      phase = await phaseOf(dataDir, baseUrl);
    }
    const code = await within(ended, options.signal);
    // npm has ended by the signal while the service is still stopping.
    if (!way.tellsCode)
      await until('the service ends', () => processesOf(dataDir).length === 0, undefined, options.signal);
    const orphans = processesOf(dataDir);
    await load?.end();
    return {
      /** The exit code or signal of the service; undefined if npm's exit hides it. */
      code: way.tellsCode ? code : undefined,
      phase,
      orphans,
      load: load?.counts ?? { answered: 0, failed: 0, cut: 0, late: 0 },
      output,
    };
  } finally {
    await clear(dataDir, child);
    await load?.end();
  }
}

/** Starts the service on the same data and stops it again. @returns the API key of the first start */
export async function startAgain(
  dataDir: string,
  port: number,
  prepare?: (baseUrl: string, key: string) => Promise<unknown>,
): Promise<string> {
  const settings = { RATE_LIMITS: 'off', LOG_LEVEL: 'warn' };
  const ownline = new Ownline({ dataDir, port, logFile: `${dataDir}.log`, settings });
  try {
    await ownline.start();
    const key = await ownline.firstKey();
    await prepare?.(ownline.baseUrl, key);
    await ownline.stop();
    const code = await ownline.ended;
    if (code !== 0) throw new Error(`Ownline ended with ${code}.\n${await ownline.lastWords()}`);
    return key;
  } finally {
    await ownline.stop();
  }
}

function launch({ way, stopAfterMs, dataDir, port }: RunOptions): ChildProcess {
  const [program, ...words] = way.command(stopAfterMs / 1_000);
  const { PATH, HOME, TMPDIR } = process.env;
  return spawn(program, words, {
    cwd: repository,
    env: { PATH, HOME, TMPDIR, DATA_DIR: dataDir, PORT: String(port), RATE_LIMITS: 'off', LOG_LEVEL: 'warn' },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A shell also starts a command in a process group of its own.
    detached: true,
  });
}

async function phaseOf(dataDir: string, baseUrl: string): Promise<Phase> {
  const names = existsSync(dataDir) ? readdirSync(dataDir) : [];
  if (names.includes('pg')) return (await isReady(baseUrl)) ? 'ready' : 'starting';
  if (names.some((name) => name.startsWith('pg.new-'))) return 'initdb';
  return names.length > 0 ? 'copying' : 'before';
}

async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  isOver: Promise<true> | undefined,
  signal: AbortSignal,
): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  const over = { value: false };
  isOver?.then(() => (over.value = true));
  while (!(await isSo())) {
    if (over.value) return;
    if (performance.now() > deadlineMs) throw new Error(`This did not happen within ${limitMs} ms: ${what}.`);
    await pause(10, undefined, { signal });
  }
}

async function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = pause(limitMs, undefined, { signal, ref: false }).then(() => {
    throw new Error(`The process did not end within ${limitMs} ms.`);
  });
  return Promise.race([promise, late]);
}

/** Kills what is left of a run, so that the next one can use its port and folder. */
async function clear(dataDir: string, child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  for (const { pid } of processesOf(dataDir)) send(pid, 'SIGKILL');
  while (processesOf(dataDir).length > 0) await pause(20);
}
