import { chmod, cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { LockFile, ReleaseContents } from './components.ts';
import { writeLicences } from './licences.ts';
import { repository, run } from './run.ts';
import { sbomOf } from './sbom.ts';
import { unlinkOthers } from './unlink-others.ts';

/** Folders of code that the package has as JavaScript, beside the files in them that are no TypeScript. */
const code = ['contract', 'server', 'shortcut', 'simulated-phone', 'webhook-listener'];

/** Other tracked files of the package, as pathspecs of git: nothing that only a clone needs. */
const others = [
  'bin',
  'deploy',
  'web/tokens.css',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'SECURITY.md',
  'docs',
  ...['decisions', 'internals', 'measurements'].map((folder) => `:!docs/${folder}`),
  ...['architecture', 'follow-one-message', 'glossary', 'releasing', 'testing'].map(
    (page) => `:!docs/${page}.md`,
  ),
];

/** The manifest of a clone, as far as it is read. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly imports: Readonly<Record<string, string>>;
}

/** Reads package.json of the clone. */
export async function readManifest(): Promise<Manifest> {
  return JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'));
}

/**
 * Builds the npm package: JavaScript with source maps, the dashboard, the documents of those who use it, and the
 * libraries that it needs. Beside it stands its software list (CycloneDX). Two builds of a commit have equal bytes.
 * @param out the folder for both
 * @returns the path of the package
 */
export async function buildPackage(out: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ownline-package-'));
  try {
    await run('./bin/node', ['web/build.ts']);
    await run('node_modules/.bin/tsc', ['-p', 'release', '--outDir', folder]);
    await nameSources(folder);
    const files = await trackedFiles();
    for (const file of files) await copyFile(file, folder);
    await cp(join(repository, 'web/dist/files'), join(folder, 'web/dist/files'), { recursive: true });
    await unlinkOthers(folder, files);
    await writeManifest(folder);
    const contents = await readContents(folder);
    await bundleLibraries(folder, contents.releaseLock);
    await writeFile(join(folder, 'THIRD-PARTY-LICENCES.txt'), await writeLicences(contents));
    await mkdir(out, { recursive: true });
    await writeSbom(out, contents);
    const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', out];
    return join(out, await run('npm', pack, { cwd: folder }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Names each source in its map as a file beside the JavaScript. tsc writes a path that leads to the clone. */
async function nameSources(folder: string): Promise<void> {
  for await (const path of glob(join(folder, '**/*.js.map'))) {
    const map = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, JSON.stringify({ ...map, sources: [basename(path, '.js.map').concat('.ts')] }));
  }
}

async function trackedFiles(): Promise<readonly string[]> {
  const listed = await run('git', ['ls-files', '--', ...code, ...others]);
  return listed.split('\n').filter((file) => !file.endsWith('.ts'));
}

async function copyFile(file: string, folder: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await cp(join(repository, file), join(folder, file));
}

/** Writes package.json, and what is left of package-lock.json without tools and workspaces: npm does not pack that. */
async function writeManifest(folder: string): Promise<void> {
  const {
    workspaces,
    private: _,
    devDependencies,
    scripts,
    engines,
    allowScripts,
    ...kept
  } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'));
  const manifest = {
    ...kept,
    gitHead: await run('git', ['rev-parse', 'HEAD']),
    bin: { ownline: 'bin/ownline' },
    bundleDependencies: Object.keys(kept.dependencies),
    imports: Object.fromEntries(code.map((name) => [`#${name}/*.ts`, `./${name}/*.js`])),
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const file of ['package-lock.json', '.npmrc']) await cp(join(repository, file), join(folder, file));
  await run('npm', ['install', '--package-lock-only', '--offline', '--ignore-scripts'], { cwd: folder });
  await rm(join(folder, '.npmrc'));
  await chmod(join(folder, 'bin/node'), 0o755);
}

/** Copies all libraries into the package. npm adds Node and PostgreSQL for its platform (decision 0057). */
async function bundleLibraries(folder: string, { packages }: LockFile): Promise<void> {
  for (const [path, { os }] of Object.entries(packages))
    if (path !== '' && !os)
      await cp(join(repository, path), join(folder, path), { recursive: true, filter: isUsed });
}

/**
 * Leaves out types and source maps, and nested packages: these have entries of their own, and the clone may have more of
 * them for its tools.
 */
const isUsed = (path: string) => !/node_modules\/.*\/node_modules$|\.([cm]?ts|map)$/.test(path);

async function readContents(folder: string): Promise<ReleaseContents> {
  const read = async (path: string) => JSON.parse(await readFile(path, 'utf8'));
  return {
    releaseLock: await read(join(folder, 'package-lock.json')),
    lock: await read(join(repository, 'package-lock.json')),
    libraries: await read(join(folder, 'web/dist/files/libraries.json')),
  };
}

async function writeSbom(out: string, contents: ReleaseContents): Promise<void> {
  const { version } = await readManifest();
  const committedAt = new Date(await run('git', ['log', '-1', '--format=%cI']));
  const sbom = sbomOf({ ...contents, version, committedAt });
  await writeFile(join(out, `ownline-${version}.cdx.json`), `${JSON.stringify(sbom, null, 1)}\n`);
}
