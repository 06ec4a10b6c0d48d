import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '#test/support/processes/spawned-service.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

/**
 * The folder for programs of other projects. It is a separate package, so `npm ci` of Ownline does not install them.
 */
const folder = join(repository, 'referees');

/** Settings that disable their telemetry and update notices. */
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', SCARF_ANALYTICS: 'false' };

/** Installs the locked versions if a program is missing or has another version. */
export async function installReferees(): Promise<void> {
  const wanted: Record<string, string> = readJsonBody('package.json').devDependencies;
  const isInstalled = Object.entries(wanted).every(([name, version]) => {
    try {
      return readJsonBody(`node_modules/${name}/package.json`).version === version;
    } catch {
      return false;
    }
  });
  if (isInstalled) return;
  const code = await exitOf(
    spawn('npm', ['ci', '--prefix', folder, '--ignore-scripts'], { stdio: 'inherit' }),
  );
  if (code !== 0) throw new Error(`npm ci --prefix referees ended with ${code}`);
}

/** Runs both linters with their recommended rules. @returns the names of those with an error or warning */
export async function lint(document: string): Promise<string[]> {
  const redocly = ['lint', '--config', join(folder, 'redocly.yaml'), document];
  const spectral = ['lint', '--ruleset', join(folder, 'spectral.yaml'), '--fail-severity=hint', document];
  const found: string[] = [];
  for (const [name, args] of [
    ['redocly', redocly],
    ['spectral', spectral],
  ] as const) {
    console.log(`\n${name} ${readJsonBody('package.json').devDependencies[packageOf[name]]}`);
    if ((await exitOf(start(name, args))) !== 0) found.push(name);
  }
  return found;
}

const packageOf = {
  redocly: '@redocly/cli',
  spectral: '@stoplight/spectral-cli',
  prism: '@stoplight/prism-cli',
};

export interface Prism {
  readonly url: string;
  readonly stop: () => Promise<unknown>;
}

/** Starts `prism proxy --errors <document> <upstream>`, without the CORS headers that Prism would add to answers. */
export async function startPrism(
  document: string,
  upstream: string,
  options: readonly string[] = [],
): Promise<Prism> {
  const port = await freePort();
  const child = start('prism', [
    'proxy',
    '--errors',
    '--cors=false',
    '--verboseLevel=silent',
    `--port=${port}`,
    ...options,
    document,
    upstream,
  ]);
  const url = `http://127.0.0.1:${port}`;
  const ended = exitOf(child);
  const stop = () => {
    child.kill();
    return ended;
  };
  try {
    await until('Prism answers', async () => {
      if (child.exitCode !== null) throw new Error(`Prism ended with ${child.exitCode}`);
      return fetch(url).then(
        () => true,
        () => false,
      );
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

function start(name: keyof typeof packageOf, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(folder, 'node_modules/.bin', name), ...args], {
    stdio: ['ignore', name === 'prism' ? 'ignore' : 'inherit', 'inherit'],
    env: { ...process.env, ...quiet },
  });
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function readJsonBody(path: string) {
  return JSON.parse(readFileSync(join(folder, path), 'utf8'));
}
