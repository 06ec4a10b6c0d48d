import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  glob,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { unavailable } from '#server/platform/app-error.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import type { Clock } from '#server/platform/time/clock.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Files that the build depends on. */
const sources = ['web/**/*.{ts,tsx,css,svg}', 'web/package.json', 'contract/*.ts', 'package-lock.json'];

/** A file of the build. Its name contains a hash of its content; only manifest.json has a fixed name. */
export interface WebFile {
  readonly name: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

const run = promisify(execFile);
const buildTimeoutMs = 120_000;

/** Shortest and longest pause after a failed build. */
const pauseMinMs = 5_000;
const pauseMaxMs = 300_000;

/** Prefix of the folder of a build in progress. */
const unfinishedPrefix = 'unfinished-';

/** An unfinished folder older than this is from a killed process, because no build takes so long. */
const unfinishedMaxMs = 5 * buildTimeoutMs;

interface Services {
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * The built dashboard, by the hash of its sources (decision 0031). A child process makes a missing build within
 * seconds. The finished build is renamed into place, so concurrent builds of several processes do not disturb each
 * other.
 */
export class WebBuild {
  readonly #services: Services;
  readonly #program: string;
  readonly #folders: readonly string[];
  readonly #signal: AbortSignal;
  #files: Promise<readonly WebFile[]> | undefined;
  #pauseMs = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * @param dataDir holds the build if the program's folder is not writable
   * @param signal ends a running build when the service stops
   * @param program the folder that contains `web/`
   */
  constructor(services: Services, dataDir: string, signal: AbortSignal, program = root) {
    this.#services = services;
    this.#signal = signal;
    this.#program = program;
    this.#folders = [join(program, 'web/dist'), join(dataDir, 'web')];
  }

  /**
   * Returns the files, and builds them first if they are missing. A failure is logged; after a pause the next call
   * builds again.
   * @throws AppError 503 if the build fails, or failed less than a pause ago
   */
  files(): Promise<readonly WebFile[]> {
    if (!this.#files && this.#services.clock.elapsedMs() < this.#pausedUntilMs) {
      return Promise.reject(notBuilt());
    }
    this.#files ??= this.#load().then(
      (files) => {
        this.#pauseMs = 0;
        return files;
      },
      (error: unknown) => this.#fail(error),
    );
    return this.#files;
  }

  /** The files, if they were read before or are being built. Otherwise undefined: the call starts no build. */
  filesAtHand(): Promise<readonly WebFile[]> | undefined {
    return this.#files;
  }

  /** Builds the dashboard at the start, before the first visitor comes. A failure is logged. */
  prepare(): void {
    this.files().catch(() => undefined);
  }

  #fail(error: unknown): never {
    const { clock, logger } = this.#services;
    this.#files = undefined;
    this.#pauseMs = Math.min(Math.max(pauseMinMs, 2 * this.#pauseMs), pauseMaxMs);
    this.#pausedUntilMs = clock.elapsedMs() + this.#pauseMs;
    if (!this.#signal.aborted) logger.error({ err: error }, 'the dashboard could not be built');
    throw notBuilt(error);
  }

  async #load(): Promise<readonly WebFile[]> {
    const version = await hashOfSources(this.#program);
    for (const folder of this.#folders) {
      const files = await readBuild(join(folder, version));
      if (files) return files;
    }
    const files = await readBuild(await this.#build(version));
    if (!files) throw new Error('the files of the dashboard were deleted while it was built');
    return files;
  }

  async #build(version: string): Promise<string> {
    const startedMs = performance.now();
    const folder = await this.#writableFolder(version);
    const unfinished = await mkdtemp(join(folder, unfinishedPrefix));
    try {
      await removeLeftovers(folder, version, unfinished);
      await run(process.execPath, [join(this.#program, 'web/build.ts'), unfinished], {
        timeout: buildTimeoutMs,
        signal: this.#signal,
      });
      // mkdtemp makes a folder that only its user can read, but another user may run the service next.
      await chmod(unfinished, 0o755);
      const built = join(folder, version);
      // Another process may have finished first, with the same result.
      await rename(unfinished, built).catch((error: unknown) =>
        exists(built).then((is) => is || Promise.reject(error)),
      );
      this.#services.logger.info(
        { ms: Math.round(performance.now() - startedMs) },
        'the dashboard was built',
      );
      return built;
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }

  /** The first folder that is writable and holds no unreadable copy of this build. */
  async #writableFolder(version: string): Promise<string> {
    const [first = '', second = ''] = this.#folders;
    try {
      await mkdir(first, { recursive: true });
      await access(first, constants.W_OK);
      if (!(await exists(join(first, version)))) return first;
    } catch {
      // The program's folder belongs to another user, so DATA_DIR holds the build.
    }
    await mkdir(second, { recursive: true });
    return second;
  }
}

const notBuilt = (cause?: unknown) =>
  unavailable('The dashboard could not be built; the log of the server says why. Try again in a minute.', {
    cause,
  });

/** Reads the files of a build; undefined without a build that this user may read. */
async function readBuild(folder: string): Promise<readonly WebFile[] | undefined> {
  try {
    const names = await readdir(folder);
    return await Promise.all(
      names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })),
    );
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EPERM') return undefined;
    throw error;
  }
}

/** glob calls it with the paths of folders and files. */
const isGenerated = (path: string) => /(^|\/)(dist|node_modules)$/.test(path);

async function hashOfSources(program: string): Promise<string> {
  const hash = createHash('sha256');
  const paths = await Array.fromAsync(glob(sources, { cwd: program, exclude: isGenerated }));
  for (const path of paths.sort()) hash.update(`${path}\n`).update(await readFile(join(program, path)));
  return hash.digest('hex').slice(0, 16);
}

/**
 * Deletes builds of other versions, and unfinished folders of killed processes. A process that still serves another
 * version's build has the files in memory.
 * @param unfinished a folder that was just made, for the file system's time
 */
async function removeLeftovers(folder: string, version: string, unfinished: string): Promise<void> {
  const { mtimeMs: nowMs } = await stat(unfinished);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const isLeft = name.startsWith(unfinishedPrefix)
      ? nowMs - ((await stat(path).catch(() => undefined))?.mtimeMs ?? nowMs) > unfinishedMaxMs
      : /^[0-9a-f]{16}$/.test(name) && name !== version;
    if (isLeft) await rm(path, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return (await readdir(dirname(path)).catch((): string[] => [])).includes(basename(path));
}
