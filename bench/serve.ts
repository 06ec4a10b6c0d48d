import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from '#test/support/service/until.ts';
import type { HandOuts } from './life/report-hand-outs.ts';

export interface Served {
  readonly origin: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Settings of a service without rate limits and pacing, which would otherwise bound what a bench measures. */
export function unlimited(dataDir: string): Record<string, string> {
  return { DATA_DIR: dataDir, RATE_LIMITS: 'off', PACING: 'off', LOG_LEVEL: 'warn' };
}

/** A first start on a busy machine takes long. */
const startMaxMs = 120_000;

/**
 * Runs a server in a child process and waits until it answers a request.
 * @param folder the checkout of the script, this one by default
 * @param onHandOuts gets the hand-outs that the script reports
 */
export async function serve(
  script: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  port: number,
  { folder = root, onHandOuts }: { folder?: string; onHandOuts?: (handOuts: HandOuts) => void } = {},
): Promise<Served> {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: folder,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'ignore', 'inherit', ...(onHandOuts ? ['ipc' as const] : [])],
  });
  if (onHandOuts) child.on('message', onHandOuts);
  const origin = `http://127.0.0.1:${port}`;
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
