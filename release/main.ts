import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildClients } from './clients.ts';
import { buildImage } from './image.ts';
import { readNotes } from './notes.ts';
import { buildPackage, readManifest } from './package.ts';
import { repository, run } from './run.ts';

/**
 * `npm run release`: builds all that a release consists of into dist-release, and lists it with sizes and hashes.
 * `npm run release -- package clients` builds these parts only. It publishes nothing.
 */
const out = join(repository, 'dist-release');

let packageFile: Promise<string> | undefined;
const packageOnce = () => {
  packageFile ??= buildPackage(out);
  return packageFile;
};

/** The parts, by the name of their argument. The image is made of the package, which is then built as well. */
const parts: Readonly<Record<string, () => Promise<unknown>>> = {
  package: packageOnce,
  clients: () => buildClients(out),
  image: async () => buildImage(await packageOnce(), out),
};

async function release(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(parts, name));
  if (unknown.length > 0)
    throw new Error(
      `No part of a release is called ${unknown.join(', ')}. There are: ${Object.keys(parts).join(', ')}.`,
    );
  const changed = await run('git', ['status', '--porcelain']);
  if (changed !== '')
    throw new Error(`A release is built from a commit. Commit or remove these first:\n${changed}`);
  await run('npm', ['ls', '--all']).catch(() => {
    throw new Error('node_modules has other versions than package-lock.json. Run `npm ci` first.');
  });
  const { version } = await readManifest();
  const notes = await readNotes(version);
  await rm(out, { recursive: true, force: true });
  await mkdir(out);
  await writeFile(join(out, `ownline-${version}-notes.md`), notes);
  for (const name of names.length > 0 ? names : Object.keys(parts)) await parts[name]?.();
  await listFiles();
}

/** Writes SHA256SUMS, for `sha256sum --check`, and prints each file with its size. */
async function listFiles(): Promise<void> {
  const files = (await readdir(out)).sort();
  const lines = await Promise.all(
    files.map(async (name) => {
      const bytes = await readFile(join(out, name));
      const sum = createHash('sha256').update(bytes).digest('hex');
      console.log(`${String(bytes.length).padStart(11)}  ${sum}  ${name}`);
      return `${sum}  ${name}\n`;
    }),
  );
  await writeFile(join(out, 'SHA256SUMS'), lines.join(''));
}

await release(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
