import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Runtime } from '#server/database/runtime.ts';
import { Semaphore } from '#server/platform/concurrency/semaphore.ts';
import type { SignCommand } from '#server/platform/shortcut-settings.ts';
import { signErrorMax, signedFileRetentionMs, signTimeoutMs } from './limits.ts';
import { readSignedFile, shortcutFileEnding, shortcutFolder } from './signed-file.ts';

/** A shortcut to sign: the name that the iPhone gives it, and its property list. */
export interface UnsignedShortcut {
  readonly name: string;
  readonly propertyList: Uint8Array;
}

/**
 * Signs shortcuts with SHORTCUT_SIGN_COMMAND (specification section 11.8), one at a time. Results are kept by content in
 * DATA_DIR for as long as a setup link is good: they may hold a device token.
 */
export class ShortcutSigner {
  readonly #services: Pick<Runtime, 'clock' | 'logger'>;
  readonly #command: SignCommand;
  readonly #folder: string;
  readonly #semaphore = new Semaphore(1);
  readonly #stopping = new AbortController();

  constructor(services: Pick<Runtime, 'clock' | 'logger' | 'config'>, command: SignCommand) {
    this.#services = services;
    this.#command = command;
    this.#folder = join(shortcutFolder(services.config.dataDir), 'signed');
  }

  /** The signed file, where it was made already. */
  async find(shortcut: UnsignedShortcut): Promise<Buffer<ArrayBuffer> | undefined> {
    const path = this.#pathOf(shortcut);
    return (await this.#isKept(path)) ? readSignedFile(path).catch(() => undefined) : undefined;
  }

  /** @returns undefined where the command failed, which is logged */
  async sign(shortcut: UnsignedShortcut): Promise<Buffer<ArrayBuffer> | undefined> {
    return this.#semaphore.run(async () => {
      try {
        return (await this.find(shortcut)) ?? (await this.#run(shortcut));
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        this.#services.logger.error({ shortcut: shortcut.name }, `SHORTCUT_SIGN_COMMAND failed: ${problem}`);
        return undefined;
      }
    });
  }

  /** Ends a command that runs. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run(shortcut: UnsignedShortcut): Promise<Buffer<ArrayBuffer> | undefined> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#deleteExpired();
    const work = await mkdtemp(join(this.#folder, 'work-'));
    try {
      // The iPhone names the shortcut after the file, and `shortcuts sign` wants this ending.
      const from = join(work, `${shortcut.name}${shortcutFileEnding}`);
      const to = join(work, `signed${shortcutFileEnding}`);
      await writeFile(from, shortcut.propertyList, { mode: 0o600 });
      const argv = this.#command.argv.map((word) => word.replaceAll('{in}', from).replaceAll('{out}', to));
      await this.#runCommand(argv);
      const bytes = await readSignedFile(to);
      if (!bytes) throw new Error('it ended well and wrote no file to {out}.');
      const copy = join(work, 'copy');
      await writeFile(copy, bytes, { mode: 0o600 });
      await rename(copy, this.#pathOf(shortcut));
      return bytes;
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  /** @throws Error with the first lines of its standard error where it fails or takes too long */
  async #runCommand([program = '', ...args]: readonly string[]): Promise<void> {
    const { environment: env } = this.#command;
    // A process group of its own, so that its children end with it.
    const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    const end = () => child.pid !== undefined && killGroup(child.pid);
    let isLate = false;
    const cancelTimer = this.#services.clock.after(signTimeoutMs, () => {
      isLate = true;
      end();
    });
    this.#stopping.signal.addEventListener('abort', end);
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < signErrorMax.characters) said += text;
    });
    try {
      const problem = await new Promise<string | undefined>((resolve) => {
        child.once('error', (error) => resolve(error.message));
        child.once('close', (code, killedBy) =>
          resolve(
            code === 0 ? undefined : killedBy ? `it was ended by ${killedBy}` : `it exited with ${code}`,
          ),
        );
        if (this.#stopping.signal.aborted) end();
      });
      if (isLate) throw new Error(`it took more than ${signTimeoutMs / 1_000} s.`);
      if (problem !== undefined) throw new Error(`${problem}. ${firstLines(said)}`.trim());
    } finally {
      cancelTimer();
      this.#stopping.signal.removeEventListener('abort', end);
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
    // It has ended meanwhile.
  }
}

function firstLines(text: string): string {
  return text.slice(0, signErrorMax.characters).trim().split('\n').slice(0, signErrorMax.lines).join(' / ');
}
