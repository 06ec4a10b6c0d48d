import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unavailable } from '#server/platform/app-error.ts';

/** A file of the build. Its name contains a hash of its content; manifest.json and version have fixed names. */
export interface WebFile {
  readonly name: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

const builtFiles = fileURLToPath(new URL('../../../web/dist/files', import.meta.url));

/** Names of the files that a page loads first. */
export interface EntryFiles {
  readonly script: string;
  /** Scripts that the first one imports. */
  readonly imports: readonly string[];
  readonly styles: readonly string[];
  /** The Latin letters of the page's own font, if it has one. */
  readonly font: string | undefined;
}

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
  readonly assets?: readonly string[];
}

/** The files of the dashboard and of the setup page, which `npm run build` makes (decision 0031). */
export class WebFiles {
  readonly #folder: string;
  #files: readonly WebFile[] | undefined;

  constructor(folder = builtFiles) {
    this.#folder = folder;
  }

  /** Returns the files, read once. Before a build each call looks again. @throws AppError 503 without a build */
  async read(): Promise<readonly WebFile[]> {
    try {
      const names = this.#files ? [] : await readdir(this.#folder);
      this.#files ??= await Promise.all(
        names.map(async (name) => ({ name, bytes: await readFile(join(this.#folder, name)) })),
      );
      return this.#files;
    } catch (error) {
      throw notBuilt(error);
    }
  }

  /**
   * Finds the files to load first in the manifest of the build.
   * @param source the entry in web/, such as main.tsx
   * @throws AppError 503 without a build that has this entry
   */
  async findEntry(source: string): Promise<EntryFiles> {
    const bytes = (await this.read()).find(({ name }) => name === 'manifest.json')?.bytes;
    const manifest: Readonly<Record<string, Chunk>> = JSON.parse(bytes?.toString() ?? '{}');
    const chunks = new Set<Chunk>();
    const add = (name: string) => {
      const chunk = manifest[name];
      if (!chunk || chunks.has(chunk)) return;
      chunks.add(chunk);
      chunk.imports?.forEach(add);
    };
    add(source);
    const [entry, ...imported] = chunks;
    if (!entry) throw notBuilt(new Error(`the manifest of the build does not name ${source}`));
    return {
      script: entry.file,
      imports: imported.map(({ file }) => file),
      styles: [...chunks].flatMap(({ css = [] }) => css),
      font: entry.assets?.find((name) => name.startsWith('inter-latin-wght-normal')),
    };
  }
}

const notBuilt = (cause: unknown) =>
  unavailable(
    'The pages are not built, or can’t be read. The operator of this server runs `npm run build` in the folder of ' +
      'Ownline; then load this page again.',
    { cause },
  );

/** The files that all pages of this process share. */
export const builtWebFiles = new WebFiles();
