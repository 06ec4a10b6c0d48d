import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from '#test/support/service/until.ts';

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

/**
 * Runs a server in a child process and waits until it answers a request.
 * @param folder the checkout of the script, this one by default
 */
export async function serve(
  script: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  port: number,
  folder = root,
): Promise<Served> {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: folder,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const origin = `http://127.0.0.1:${port}`;
  await until(`${script} answers`, () =>
    fetch(origin).then(
      () => true,
      () =>
        child.exitCode !== null && Promise.reject(new Error(`${script} ended before it answered a request`)),
    ),
  ).catch((error) => {
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
