import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileForm } from '#contract/setup.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SignCommand } from '#server/platform/shortcut-settings.ts';
import {
  shortcutFileMaxBytes,
  signErrorGraceMs,
  signErrorMax,
  signedFileRetentionMs,
  signFailureRetentionMs,
  signTimeoutMs,
  signWaitingMax,
} from './limits.ts';

/** The file name ending that iOS opens with Shortcuts. */
export const shortcutFileEnding = '.shortcut';

/** The folder in DATA_DIR for signed files (docs/configuration.md). Those for iOS 27 are in a folder `27` inside. */
export function shortcutFolder(dataDir: string, form: FileForm = 26): string {
  return join(dataDir, 'shortcuts', form === 26 ? '' : String(form));
}

/** The first bytes of a signed shortcut, an Apple Encrypted Archive; an iPhone refuses any other file. */
const signature = Buffer.from('AEA1');

/**
 * Reads a signed shortcut.
 * @returns undefined if there is no file
 * @throws Error with a sentence if the file can't be read or is no signed shortcut
 */
export async function readSignedFile(path: string): Promise<Buffer<ArrayBuffer> | undefined> {
  let size: number;
  try {
    ({ size } = await stat(path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  if (size > shortcutFileMaxBytes)
    throw new Error(`${path} has ${size} bytes, which is too large for a shortcut.`);
  const bytes = await readFile(path);
  if (!bytes.subarray(0, signature.length).equals(signature))
    throw new Error(
      `${path} is not signed: a signed shortcut begins with AEA1. Sign it with \`shortcuts sign\` on a Mac.`,
    );
  return bytes;
}

/** A shortcut to sign: the name that the iPhone gives it, and its property list. */
export interface UnsignedShortcut {
  readonly name: string;
  readonly propertyList: Uint8Array;
}

/**
 * Signs shortcuts with SHORTCUT_SIGN_COMMAND (specification section 11.8), one at a time. Results are cached by content
 * in DATA_DIR for a setup link's lifetime, because they may contain a device token.
 */
export class ShortcutSigner {
  readonly #services: Pick<Runtime, 'clock' | 'logger'>;
  readonly #command: SignCommand;
  readonly #folder: string;
  readonly #stopping = new AbortController();
  /** Files that are being signed or wait to be signed, by path. */
  readonly #jobs = new Map<string, Promise<Buffer<ArrayBuffer> | undefined>>();
  #latestJob: Promise<unknown> = Promise.resolve();
  /** Paths of files that the command failed to sign, with the time of the failure in ms, oldest first. */
  readonly #failures = new Map<string, number>();

  constructor(services: Pick<Runtime, 'clock' | 'logger' | 'config'>, command: SignCommand) {
    this.#services = services;
    this.#command = command;
    this.#folder = join(shortcutFolder(services.config.dataDir), 'signed');
  }

  /** Finds the signed file, if it was made already. */
  async find(shortcut: UnsignedShortcut): Promise<Buffer<ArrayBuffer> | undefined> {
    const path = this.#pathOf(shortcut);
    return (await this.#isKept(path)) ? readSignedFile(path).catch(() => undefined) : undefined;
  }

  /** False if the command failed to sign this file recently, or too many other files wait. */
  accepts(shortcut: UnsignedShortcut): boolean {
    const path = this.#pathOf(shortcut);
    const failedAtMs = this.#failures.get(path) ?? -Infinity;
    const hasFailed = this.#services.clock.nowMs() - failedAtMs < signFailureRetentionMs;
    return this.#jobs.has(path) || (!hasFailed && this.#jobs.size <= signWaitingMax);
  }

  /**
   * Signs a shortcut. @returns undefined, with a log entry, if the command fails, failed recently, or too many files
   * wait
   */
  async sign(shortcut: UnsignedShortcut): Promise<Buffer<ArrayBuffer> | undefined> {
    const path = this.#pathOf(shortcut);
    const present = this.#jobs.get(path);
    if (present) return present;
    if (!this.accepts(shortcut)) {
      if (this.#jobs.size > signWaitingMax)
        this.#services.logger.warn(
          { shortcut: shortcut.name },
          `SHORTCUT_SIGN_COMMAND was not run: ${signWaitingMax} files wait for it already.`,
        );
      return undefined;
    }
    const job = this.#latestJob.then(() => this.#attempt(shortcut)).finally(() => this.#jobs.delete(path));
    this.#latestJob = job;
    this.#jobs.set(path, job);
    return job;
  }

  /** Ends the running command, and makes later calls of `sign` fail. */
  stop(): void {
    this.#stopping.abort();
  }

  async #attempt(shortcut: UnsignedShortcut): Promise<Buffer<ArrayBuffer> | undefined> {
    try {
      return (await this.find(shortcut)) ?? (await this.#run(shortcut));
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      const problem = error instanceof Error ? error.message : String(error);
      this.#services.logger.error({ shortcut: shortcut.name }, `SHORTCUT_SIGN_COMMAND failed: ${problem}`);
      this.#keepFailure(this.#pathOf(shortcut));
      return undefined;
    }
  }

  #keepFailure(path: string): void {
    const nowMs = this.#services.clock.nowMs();
    for (const [failed, failedAtMs] of this.#failures) {
      if (nowMs - failedAtMs >= signFailureRetentionMs) this.#failures.delete(failed);
    }
    this.#failures.set(path, nowMs);
  }

  async #run(shortcut: UnsignedShortcut): Promise<Buffer<ArrayBuffer> | undefined> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#deleteExpired();
    const work = await mkdtemp(join(this.#folder, 'work-'));
    try {
      // The iPhone names the shortcut after the file, and `shortcuts sign` requires this ending.
      const from = join(work, `${shortcut.name}${shortcutFileEnding}`);
      const to = join(work, `signed${shortcutFileEnding}`);
      await writeFile(from, shortcut.propertyList, { mode: 0o600 });
      const argv = this.#command.argv.map((word) => word.replaceAll('{in}', from).replaceAll('{out}', to));
      await this.#runCommand(argv);
      const bytes = await readSignedFile(to);
      if (!bytes) throw new Error('the command exited with 0 and wrote no file to {out}.');
      const copy = join(work, 'copy');
      await writeFile(copy, bytes, { mode: 0o600 });
      await rename(copy, this.#pathOf(shortcut));
      return bytes;
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  /**
   * Runs the signing command. @throws Error with the first lines of the command's standard error if it fails or takes
   * too long
   */
  async #runCommand([program = '', ...args]: readonly string[]): Promise<void> {
    const { clock } = this.#services;
    const { signal } = this.#stopping;
    signal.throwIfAborted();
    const { environment: env } = this.#command;
    // The command gets its own process group, so that its children end with it.
    const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < signErrorMax.characters) said += text;
    });
    const cancels: (() => void)[] = [];
    try {
      await new Promise<void>((resolve, reject) => {
        const fail = (problem: string) => reject(new Error(`${problem}. ${firstLines(said)}`.trim()));
        const stop = () => reject(new Error('The service stopped before the signing command had ended.'));
        signal.addEventListener('abort', stop);
        cancels.push(
          () => signal.removeEventListener('abort', stop),
          clock.after(signTimeoutMs, () =>
            reject(new Error(`the command took more than ${signTimeoutMs / 1_000} s.`)),
          ),
        );
        child.once('error', (error) => fail(error.message));
        child.once('exit', (code, killedBy) => {
          if (code === 0) return resolve();
          // A child that left the process group may keep standard error open. So the end of standard error is awaited
          // for a moment only.
          const end = () =>
            fail(killedBy ? `the command was ended by ${killedBy}` : `the command exited with ${code}`);
          child.once('close', end);
          cancels.push(clock.after(signErrorGraceMs, end));
        });
      });
    } finally {
      for (const cancel of cancels) cancel();
      if (child.pid !== undefined) killGroup(child.pid);
      child.stderr.destroy();
    }
  }

  #pathOf({ name, propertyList }: UnsignedShortcut): string {
    const content = createHash('sha256')
      .update(JSON.stringify([this.#command.argv, name]))
      .update(propertyList);
    return join(this.#folder, `${content.digest('hex')}${shortcutFileEnding}`);
  }

  async #isKept(path: string): Promise<boolean> {
    const made = await stat(path).catch(() => undefined);
    return made !== undefined && this.#services.clock.nowMs() - made.mtimeMs < signedFileRetentionMs;
  }

  async #deleteExpired(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      if (!(await this.#isKept(path))) await rm(path, { recursive: true, force: true });
    }
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process group has ended already.
  }
}

function firstLines(text: string): string {
  return text.slice(0, signErrorMax.characters).trim().split('\n').slice(0, signErrorMax.lines).join(' / ');
}
