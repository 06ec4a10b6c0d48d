import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository, run } from './run.ts';
import { unlinkOthers } from './unlink-others.ts';

/**
 * Builds the clients: an npm package for TypeScript, and a wheel for Python. Two builds of a commit have equal bytes.
 * @param out the folder for both
 * @returns their paths
 * @throws if Debian's python3-setuptools or python3-wheel is missing
 */
export async function buildClients(out: string): Promise<readonly string[]> {
  await mkdir(out, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), 'ownline-clients-'));
  try {
    await run('git', ['checkout-index', '--all', `--prefix=${folder}/`], {
      cwd: join(repository, 'clients'),
    });
    await unlinkOthers(folder, ['clients/typescript/README.md', 'clients/python/README.md']);
    return [
      await buildTarball(join(folder, 'clients/typescript'), out),
      await buildWheel(join(folder, 'clients/python'), out),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function buildTarball(folder: string, out: string): Promise<string> {
  const manifest = join(folder, 'package.json');
  const { scripts, devDependencies, ...kept } = JSON.parse(await readFile(manifest, 'utf8'));
  await writeFile(manifest, `${JSON.stringify(kept, null, 2)}\n`);
  const build = ['run', '--silent', 'build', '--', '--outDir', join(folder, 'dist')];
  await run('npm', build, { cwd: join(repository, 'clients/typescript') });
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', out];
  return join(out, await run('npm', pack, { cwd: folder }));
}

/** Builds with Debian's Python. The files of the wheel have the time of the commit. */
async function buildWheel(folder: string, out: string): Promise<string> {
  const program = 'import sys, setuptools.build_meta as backend; print(backend.build_wheel(sys.argv[1]))';
  const env = { SOURCE_DATE_EPOCH: await run('git', ['log', '-1', '--format=%ct']) };
  const printed = await run('/usr/bin/python3', ['-c', program, out], { cwd: folder, env });
  return join(out, printed.split('\n').at(-1) ?? '');
}
