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

/** The files of the dashboard, which `npm run build` makes (decision 0031). */
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
      throw unavailable(
        'The dashboard is not built, or can’t be read. The operator of this server runs `npm run build` in the folder of ' +
          'Ownline; then load this page again.',
        { cause: error },
      );
    }
  }
}
