import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '#test/support/processes/spawned-service.ts';

const run = promisify(execFile);

const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'));

/** The versions in package.json of this commit, and of a release after it. */
export const versions = { current: String(version), newer: '1.0.0-rc.999' };

/** Builds the release of this commit and a newer one that differs in its version only, and copies both into /root. */
export async function bringReleases(root: string): Promise<void> {
  for (const name of [versions.current, versions.newer]) {
    const clone = await mkdtemp(join(tmpdir(), 'ownline-release-'));
    try {
      await run('git', ['clone', '--quiet', '--shared', repository, clone]);
      await run('npm', ['ci', '--ignore-scripts', '--prefer-offline'], { cwd: clone });
      if (name !== versions.current) await commitVersion(clone, name);
      await run('npm', ['run', 'release', '--', 'package', 'clients'], { cwd: clone });
      await cp(join(clone, 'dist-release'), join(root, 'root', name), { recursive: true });
    } finally {
      await rm(clone, { recursive: true, force: true });
    }
  }
}

async function commitVersion(clone: string, name: string): Promise<void> {
  const manifest = await readFile(join(clone, 'package.json'), 'utf8');
  await writeFile(join(clone, 'package.json'), manifest.replace(`"${versions.current}"`, `"${name}"`));
  const changelog = await readFile(join(clone, 'CHANGELOG.md'), 'utf8');
  await writeFile(join(clone, 'CHANGELOG.md'), `## ${name}\n\nA newer release.\n\n${changelog}`);
  const author = ['-c', 'user.name=Release', '-c', 'user.email=release@example.com'];
  await run('git', [...author, 'commit', '--quiet', '--all', '--message', name], { cwd: clone });
}

/** Brings the repository at this commit into the machine, as the branch `main` of /srv/ownline.git. */
export async function bringClone(root: string): Promise<void> {
  const source = join(root, 'srv/ownline.git');
  await run('git', ['init', '--quiet', '--bare', '--initial-branch=main', source]);
  await run('git', ['-C', repository, 'push', '--quiet', source, 'HEAD:refs/heads/main']);
}
