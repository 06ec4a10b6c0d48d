import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { buildImage, missingForImage } from '#release/image.ts';
import { buildPackage } from '#release/package.ts';
import { repository, run } from '#release/run.ts';
import { isInstalled } from '#test/support/processes/is-installed.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const missing =
  missingForImage() ??
  (isInstalled('podman', ['--version']) && isInstalled('crun', ['--version'])
    ? false
    : 'There is no podman: apt-get install podman crun.');

describe('the container image', { skip: missing }, () => {
  const folder = givenFolder();
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver=vfs'];
  const engine = [...store, '--cgroup-manager=cgroupfs', '--events-backend=file'];
  // crun refuses cgroups of both versions at once, so podman does not see the second.
  const alone = 'umount /sys/fs/cgroup/unified 2> /dev/null; exec podman "$@"';
  const podman = (...words: readonly string[]) =>
    run('unshare', ['--mount', 'sh', '-c', alone, 'podman', ...engine, ...words]);
  const inside = (...words: readonly string[]) => podman('exec', 'ownline', ...words);

  /** Starts the image that compose.yaml names, as restricted as there, and without any network. */
  async function start(): Promise<void> {
    const compose = await readFile(join(repository, 'deploy/docker/compose.yaml'), 'utf8');
    const image = /image: (ownline:\S+)/.exec(compose)?.[1] ?? '';
    const readOnly = ['--read-only', '--read-only-tmpfs=false', '--tmpfs=/tmp:noexec'];
    const restricted = ['--cap-drop=all', '--security-opt=no-new-privileges', '--network=none'];
    const limits = ['--cgroups=disabled', '--ulimit=nofile=1024:4096', '--ulimit=nproc=1000:1000'];
    const volumes = ['--volume=data:/var/lib/ownline', '--volume=backups:/var/backups/ownline'];
    await podman(
      'run',
      '--detach',
      '--name=ownline',
      ...readOnly,
      ...restricted,
      ...limits,
      ...volumes,
      image,
    );
    const isHealthy = () =>
      podman('healthcheck', 'run', 'ownline').then(
        () => true,
        () => false,
      );
    await until('the health check passes', isHealthy);
  }

  /** Stops the container and removes it. @returns its exit code, 137 if it had to be killed after 10 s */
  async function stop(): Promise<string> {
    await podman('stop', '--time=10', 'ownline');
    const code = await podman('inspect', '--format={{.State.ExitCode}}', 'ownline');
    await podman('rm', 'ownline');
    return code;
  }

  given(
    async () => {
      const archive = await buildImage(await buildPackage(folder), folder);
      await run('gunzip', [archive]);
      await podman('load', '--quiet', '--input', archive.replace('.gz', ''));
      await start();
      return {};
    },
    () => podman('rm', '--force', '--ignore', 'ownline'),
  );

  it('the service runs without root, and writes only to its volumes and to /tmp', async () => {
    assert.equal(await inside('id', '-un'), 'ownline');
    assert.match(await inside('cat', '/var/lib/ownline/first-start.txt'), /own_live_/);
    await inside('ownline', 'backup', '/var/backups/ownline/by-hand.backup');
    await inside('ownline', 'backup', '--verify', '/var/backups/ownline/by-hand.backup');
  });

  it('SIGTERM stops the service cleanly, and a new container goes on with the data of the volume', async () => {
    const teams = await inside('ownline', 'team', 'list');
    assert.match(teams, /team_/);
    assert.equal(await stop(), '0');
    await start();
    assert.equal(await inside('ownline', 'team', 'list'), teams);
  });
});
