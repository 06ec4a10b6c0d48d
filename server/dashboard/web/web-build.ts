import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, glob, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Logger } from '#server/platform/process/logger.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Every file that the result depends on. */
const sources = ['web/**/*.{ts,tsx,css,svg}', 'web/package.json', 'contract/*.ts', 'package-lock.json'];

/** A file of the build: its name has a hash of its content, except for the manifest's. */
export interface WebFile {
  readonly name: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

const run = promisify(execFile);
const buildTimeoutMs = 120_000;

/**
 * The built dashboard, by the hash of its sources (decision 0031). A build that is missing is made by a child process, in
 * some seconds. It becomes visible by a rename, so that processes that build at once do not disturb each other.
 */
export class WebBuild {
  readonly #logger: Logger;
  readonly #folders: readonly string[];
  readonly #signal: AbortSignal;
  #files: Promise<readonly WebFile[]> | undefined;

  /**
   * @param dataDir takes the build where the folder of the program can't be written to
   * @param signal ends a build in progress: the service stops
   */
  constructor(logger: Logger, dataDir: string, signal: AbortSignal) {
    this.#logger = logger;
    this.#signal = signal;
    this.#folders = [join(root, 'web/dist'), join(dataDir, 'web')];
  }

  /** The files, built first where they are missing. A failure is not kept: the next call tries again. */
  files(): Promise<readonly WebFile[]> {
    this.#files ??= this.#load().catch((error: unknown) => {
      this.#files = undefined;
      throw error;
    });
    return this.#files;
  }

  /** Builds ahead of the first visitor; the log tells of a failure. */
  prepare(): void {
    this.files().catch((err: unknown) => {
      if (!this.#signal.aborted) this.#logger.error({ err }, 'the dashboard could not be built');
    });
  }

  async #load(): Promise<readonly WebFile[]> {
    const version = await hashOfSources();
    const folder = (await this.#find(version)) ?? (await this.#build(version));
    const names = await readdir(folder);
    return Promise.all(names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })));
  }

  async #find(version: string): Promise<string | undefined> {
    for (const folder of this.#folders) {
      const built = join(folder, version);
      if (await exists(built)) return built;
    }
    return undefined;
  }

  async #build(version: string): Promise<string> {
    const startedMs = performance.now();
    const folder = await this.#writableFolder();
    const unfinished = await mkdtemp(join(folder, 'unfinished-'));
    try {
      await run(process.execPath, [join(root, 'web/build.ts'), unfinished], {
        timeout: buildTimeoutMs,
        signal: this.#signal,
      });
      const built = join(folder, version);
      // Another process may have been faster: its result is the same.
      await rename(unfinished, built).catch((error: unknown) =>
        exists(built).then((is) => is || Promise.reject(error)),
      );
      await removeOthers(folder, version);
      this.#logger.info({ ms: Math.round(performance.now() - startedMs) }, 'the dashboard was built');
      return built;
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }

  async #writableFolder(): Promise<string> {
    const [first = '', second = ''] = this.#folders;
    try {
      await mkdir(first, { recursive: true });
      await access(first, 2);
      return first;
    } catch {
      await mkdir(second, { recursive: true });
      return second;
    }
  }
}

/** glob takes the names of folders and files. */
const isGenerated = (path: string) => /(^|\/)(dist|node_modules)$/.test(path);

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const paths = await Array.fromAsync(glob(sources, { cwd: root, exclude: isGenerated }));
  for (const path of paths.sort()) hash.update(`${path}\n`).update(await readFile(join(root, path)));
  return hash.digest('hex').slice(0, 16);
}

/** Builds of other versions; a process that still serves one holds its files in memory. */
async function removeOthers(folder: string, version: string): Promise<void> {
  const others = (await readdir(folder)).filter((name) => /^[0-9a-f]{16}$/.test(name) && name !== version);
  for (const name of others) await rm(join(folder, name), { recursive: true, force: true });
}

async function exists(path: string): Promise<boolean> {
  return (await readdir(dirname(path)).catch((): string[] => [])).includes(basename(path));
}
