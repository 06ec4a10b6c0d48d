import { execFile, spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { chown, mkdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Postgres } from '../clocks/postgres.ts';

const run = promisify(execFile);

/**
 * Creates an operator's own PostgreSQL with an empty database, using the programs of the embedded one.
 * @param folder a path that does not exist yet
 * @param embeddedDir DATA_DIR of an Ownline that ran with its embedded PostgreSQL
 */
export async function createOwnCluster(folder: string, embeddedDir: string): Promise<Postgres> {
  const [program = ''] = globSync(join(embeddedDir, 'engine/*/bin/initdb'));
  const { uid, gid } = await stat(join(embeddedDir, 'pg'));
  const isRoot = process.getuid?.() === 0;
  const as = { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, ...(isRoot ? { uid, gid } : {}) };
  await mkdir(folder, { mode: 0o711 });
  const cluster = join(folder, 'pg');
  await mkdir(cluster, { mode: 0o700 });
  if (isRoot) await chown(cluster, uid, gid);
  const access = ['--auth=trust', '--username=ownline'];
  await run(program, ['-D', cluster, '--encoding=UTF8', '--locale=C', ...access], as);
  await createDatabase(join(program, '../postgres'), cluster, as);
  await symlink(join(embeddedDir, 'engine'), join(folder, 'engine'));
  return new Postgres({ dataDir: folder, environment: {} });
}

/** The embedded PostgreSQL has no createdb, so its server runs the statement in single-user mode. */
async function createDatabase(program: string, cluster: string, as: object): Promise<void> {
  const child = spawn(program, ['--single', '-D', cluster, 'postgres'], {
    ...as,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise<unknown>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  child.stdin.end('CREATE DATABASE ownline\n');
  const code = await ended;
  if (code !== 0) throw new Error(`PostgreSQL ended with ${code} when it made a database.`);
}
