import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chmod,
  glob,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Language, languages } from '../contract/language.ts';

/**
 * `npm run build`: builds the dashboard into web/dist/files, unless these sources are built already. The server reads the
 * files from there (decision 0031).
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'web/dist');
const files = join(dist, 'files');

/** Files that the build depends on. */
const sources = ['web/**/*.{ts,tsx,css,svg,json}', 'contract/*.ts', 'package-lock.json'];

const isGenerated = (path: string) => ['dist', 'node_modules'].includes(basename(path));

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const paths = await Array.fromAsync(glob(sources, { cwd: root, exclude: isGenerated }));
  for (const path of paths.sort()) hash.update(`${path}\n`).update(await readFile(join(root, path)));
  return hash.digest('hex');
}

/**
 * The dashboard in each language (decision 0062), and the setup page, which loads its texts itself. Each has a build of
 * its own: chunks that they shared would be many small files, and make the first load of each slower.
 */
const entries: readonly (readonly [entry: string, language: Language])[] = [
  ...(Object.keys(languages) as Language[]).map((language) => ['main.tsx', language] as const),
  ['setup/main.tsx', 'en'],
];

/** A plugin of Vite: the build has the texts of a language in place of the English ones. */
const inLanguage = (language: Language) => ({
  name: 'language',
  enforce: 'pre' as const,
  resolveId(source: string, importer = '') {
    const path = join(dirname(importer), `texts.${language}.json`);
    return source === './texts.json' && existsSync(path) ? path : undefined;
  },
});

/** A package that has code, styles or fonts in the dashboard's files. */
interface Library {
  readonly name: string;
  readonly version: string;
}

/** Builds one entry into a folder. @returns its manifest, and the packages that are compiled in */
async function buildEntry(
  entry: string,
  language: Language,
  outDir: string,
): Promise<[manifest: object, compiledIn: Library[]]> {
  const { build } = await import('vite');
  await build({
    configFile: fileURLToPath(new URL('./vite.config.ts', import.meta.url)),
    // Vite's default loader would write into node_modules, which may belong to another user.
    configLoader: 'native',
    logLevel: 'warn',
    plugins: [inLanguage(language)],
    build: { outDir, emptyOutDir: false, rolldownOptions: { input: join(root, 'web', entry) } },
  });
  return [await readJson(join(outDir, 'manifest.json')), await readJson(join(outDir, 'libraries.json'))];
}

const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

/** Packages that Vite's list lacks: it has only modules of JavaScript, and not the helpers that the builder adds to them. */
async function findOtherLibraries(): Promise<Library[]> {
  const names = new Set(['vite', 'rolldown']);
  for await (const path of glob('web/**/*.css', { cwd: root, exclude: isGenerated })) {
    const css = await readFile(join(root, path), 'utf8');
    for (const [, name = ''] of css.matchAll(/(?:@import |url\()"((?:@[\w-]+\/)?[\w-]+)/g)) names.add(name);
  }
  return Promise.all([...names].map((name) => readJson(join(root, 'node_modules', name, 'package.json'))));
}

/** Lists each version of a library once, in the order of names, for release/components.ts. */
function listLibraries(libraries: readonly Library[]): Library[] {
  const byKey = new Map(libraries.map(({ name, version }) => [`${name}@${version}`, { name, version }]));
  return [...byKey.keys()].sort().flatMap((key) => byKey.get(key) ?? []);
}

async function buildFiles(): Promise<void> {
  const version = await hashOfSources();
  const isBuilt = async () => (await readFile(join(files, 'version'), 'utf8').catch(() => '')) === version;
  if (await isBuilt()) return;
  await mkdir(dist, { recursive: true });
  const unfinished = await mkdtemp(join(dist, 'unfinished-'));
  const manifests: Record<string, object> = {};
  const libraries = await findOtherLibraries();
  for (const [entry, language] of entries) {
    const [manifest, compiledIn] = await buildEntry(entry, language, unfinished);
    manifests[`${entry} ${language}`] = manifest;
    libraries.push(...compiledIn);
  }
  await writeFile(join(unfinished, 'manifest.json'), JSON.stringify(manifests));
  await writeFile(join(unfinished, 'libraries.json'), JSON.stringify(listLibraries(libraries)));
  await writeFile(join(unfinished, 'version'), version);
  // mkdtemp makes a folder that only its user can read, but another user runs the service.
  await chmod(unfinished, 0o755);
  try {
    await rm(files, { recursive: true, force: true });
    await rename(unfinished, files);
  } catch (error) {
    // Another process may have finished first, with the same result.
    if (!(await isBuilt())) throw error;
  }
  await removeUnfinished(unfinished);
}

/** Removes this build's folder, and those of interrupted builds. A younger folder may be that of another build at work. */
async function removeUnfinished(own: string): Promise<void> {
  for (const name of await readdir(dist)) {
    const path = join(dist, name);
    const { mtimeMs = Number.POSITIVE_INFINITY } = (await stat(path).catch(() => undefined)) ?? {};
    const isOld = name !== 'files' && mtimeMs < Date.now() - 3_600_000;
    if (path === own || isOld) await rm(path, { recursive: true, force: true });
  }
}

await buildFiles().catch((error: unknown) => {
  console.error('The dashboard could not be built.', error);
  // A start goes on without the dashboard: the API needs no build.
  if (!process.argv.includes('--before-start')) process.exitCode = 1;
});
