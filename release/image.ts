import { existsSync } from 'node:fs';
import { glob, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './run.ts';

/** Debian's names of architectures, with npm's. */
const cpus = { amd64: 'x64', arm64: 'arm64' } as const;
type Architecture = keyof typeof cpus;

/** The stable Debian. */
const suite = 'trixie';

const prefix = '/opt/ownline';
/** `npm install --global` makes this folder below its prefix. */
const home = `${prefix}/lib/node_modules/ownline`;
const data = '/var/lib/ownline';

/**
 * Runs as root inside the new Debian. apt adds the updates, also those for security, from the mirror that debootstrap
 * chose. What only people read goes, except licences, and the right of programs to become another user. The names that
 * debootstrap copied from the machine that builds go as well.
 */
const prepareDebian = `
export DEBIAN_FRONTEND=noninteractive
mirror=$(sed -n 's/^deb \\([^ ]*\\) .*/\\1/p' /etc/apt/sources.list)
printf 'deb %s %s main\\n' "$mirror" ${suite} "$mirror" ${suite}-updates "$mirror-security" ${suite}-security > /etc/apt/sources.list
apt-get -q update && apt-get -qy upgrade
useradd --uid 10001 --home-dir ${data} --no-create-home --shell /usr/sbin/nologin ownline
install -d -o ownline -g ownline -m 0700 ${data} /var/backups/ownline
find / -xdev -type f -perm /6000 -exec chmod ug-s {} +
find /usr/share/doc -type f ! -name copyright -delete
rm -rf /usr/share/man/* /usr/share/info/* /usr/share/locale/* /var/lib/apt/lists/* /var/cache/* /var/log/* /dev/*
: > /etc/hostname
: > /etc/resolv.conf
`;

const readiness = `fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`;

/** Says what this machine lacks to build an image; undefined if it lacks nothing. */
export function missingForImage(): string | undefined {
  const folders = (process.env.PATH ?? '').split(':');
  const missing = ['buildah', 'debootstrap'].filter(
    (name) => !folders.some((folder) => existsSync(join(folder, name))),
  );
  if (missing.length > 0)
    return `There is no ${missing.join(' and no ')} in the PATH: apt-get install buildah debootstrap debian-archive-keyring.`;
  return process.getuid?.() === 0 ? undefined : 'Run it as root: debootstrap needs that.';
}

/**
 * Builds the container image of a package, for `docker load` and `podman load`: a small Debian in one layer, the
 * installed package in the next. Format and archive are Docker's (decision 0058): OCI's format has no health check, so
 * buildah would leave it out. An OCI archive is loaded by Docker 25 and newer only, podman loads both.
 * @param packageFile what `buildPackage` made
 * @param out the folder for the archive
 * @param architecture has to be that of this machine, because debootstrap runs programs of the new Debian. A workflow
 * builds for arm64 on such a machine. No one has done that yet.
 * @returns the path of the archive
 * @throws if this machine lacks a program, or the user is not root
 */
export async function buildImage(
  packageFile: string,
  out: string,
  architecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64',
): Promise<string> {
  const problem = missingForImage();
  if (problem !== undefined) throw new Error(problem);
  await mkdir(out, { recursive: true });
  const folder = await mkdtemp('/var/tmp/ownline-image-');
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver=vfs'];
  const buildah = (...words: readonly string[]) =>
    run('buildah', [...store, ...words], { env: { BUILDAH_ISOLATION: 'chroot' } });
  try {
    const epoch = await run('git', ['log', '-1', '--format=%ct']);
    const commit = ['commit', '--quiet', '--format=docker', `--timestamp=${epoch}`];
    const debian = await buildah('from', `--arch=${architecture}`, 'scratch');
    await makeDebian(await buildah('mount', debian), architecture);
    const container = await buildah('from', await buildah(...commit, debian));
    const manifest = await installPackage(packageFile, await buildah('mount', container), architecture);
    await buildah('config', ...settings(manifest, new Date(Number(epoch) * 1_000)), container);
    const archive = join(out, `ownline-${manifest.version}-linux-${architecture}.tar`);
    // buildah adds to an archive that exists.
    await rm(archive, { force: true });
    await buildah(...commit, container, `docker-archive:${archive}:ownline:${manifest.version}`);
    // podman and buildah of Debian 12 can't read it: the documents load it by gunzip.
    await run('gzip', ['--force', '--no-name', archive]);
    return `${archive}.gz`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes a Debian in a folder. What debootstrap mounts there ends with its namespace, even if it is killed. */
async function makeDebian(root: string, architecture: Architecture): Promise<void> {
  const options = ['--variant=minbase', '--include=ca-certificates,libatomic1', '--force-check-gpg'];
  await run('unshare', ['--mount', 'debootstrap', ...options, `--arch=${architecture}`, suite, root]);
  await run('chroot', [root, 'sh', '-euc', prepareDebian]);
}

interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly gitHead: string;
}

/** Installs the package and what it needs, without the headers and the manual of Node. @returns its package.json */
async function installPackage(
  packageFile: string,
  root: string,
  architecture: Architecture,
): Promise<Manifest> {
  const target = ['--os=linux', `--cpu=${cpus[architecture]}`, '--libc=glibc'];
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', '--global', '--prefix', join(root, prefix), ...target, ...quiet, packageFile]);
  for await (const path of glob(join(root, home, 'node_modules/node-*/{include,share}')))
    await rm(path, { recursive: true });
  return JSON.parse(await readFile(join(root, home, 'package.json'), 'utf8'));
}

/** How a container of the image runs. It writes only to its volume and to /tmp, so its root may be read-only. */
function settings({ version, description, license, gitHead }: Manifest, created: Date): readonly string[] {
  const labels = {
    title: 'Ownline',
    description,
    version,
    revision: gitHead,
    licenses: license,
    created: created.toISOString(),
  };
  return [
    ...Object.entries(labels).map(([name, value]) => `--label=org.opencontainers.image.${name}=${value}`),
    `--env=PATH=${prefix}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    '--env=HOST=0.0.0.0',
    // Links and forms need an address that a browser can open: 0.0.0.0 is none.
    '--env=BASE_URL=http://127.0.0.1:3000',
    `--env=DATA_DIR=${data}`,
    `--volume=${data}`,
    `--workingdir=${home}`,
    // Kubernetes refuses a name if it has to run without root.
    '--user=10001:10001',
    '--port=3000/tcp',
    '--stop-signal=SIGTERM',
    `--healthcheck=CMD bin/node --eval "${readiness}"`,
    '--healthcheck-interval=10s',
    '--healthcheck-timeout=5s',
    '--healthcheck-start-period=60s',
    '--healthcheck-retries=3',
    '--cmd=ownline start',
  ];
}
