import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Runs the statements of docs/operations.md for a stopped service whose secrets.key is lost. */
export async function forgetSecretsKey(dataDir: string): Promise<void> {
  const [version = ''] = await readdir(join(dataDir, 'engine'));
  const program = join(dataDir, 'engine', version, 'bin', 'postgres');
  const cluster = join(dataDir, 'pg');
  const { uid, gid } = await stat(cluster);
  await new Promise<void>((resolve, reject) => {
    const child = execFile(
      program,
      ['--single', '-D', cluster, 'ownline'],
      { cwd: '/', uid, gid },
      (error, _, errors) =>
        error || /ERROR|FATAL/.test(errors) ? reject(error ?? new Error(errors)) : resolve(),
    );
    child.stdin?.end('DELETE FROM instance\n');
  });
}
