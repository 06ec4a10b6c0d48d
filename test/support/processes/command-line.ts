import assert from 'node:assert/strict';
import { type ChildProcess, execFile } from 'node:child_process';
import { repository } from './spawned-service.ts';

export interface Outcome {
  /** Exit code; 1 after a signal. */
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** A running command. `ended` resolves with the result of `run`. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<Outcome>;
}

/** Runs `ownline` commands in separate processes, beside the server of a data folder. */
export class CommandLine {
  readonly #settings: Readonly<Record<string, string>>;

  /** @param settings named as in docs/configuration.md */
  constructor(dataDir: string, settings: Readonly<Record<string, string>> = {}) {
    this.#settings = { DATA_DIR: dataDir, ...settings };
  }

  /** @param settings named as in docs/configuration.md */
  run(
    words: readonly string[],
    settings: Readonly<Record<string, string>> = {},
    input = '',
  ): Promise<Outcome> {
    const { child, ended } = this.start(words, settings);
    child.stdin?.end(input);
    return ended;
  }

  /** Starts a command and leaves its standard input open. */
  start(words: readonly string[], settings: Readonly<Record<string, string>> = {}): RunningCommand {
    const { promise: ended, resolve } = Promise.withResolvers<Outcome>();
    const child = execFile(
      process.execPath,
      ['server/cli/main.ts', ...words],
      { cwd: repository, env: { ...process.env, ...this.#settings, ...settings } },
      (error, output, errors) => resolve({ code: Number(error ? (error.code ?? 1) : 0), output, errors }),
    );
    return { child, ended };
  }

  /** Runs a command with --json. @returns its output @throws if it failed */
  async json(...words: readonly string[]) {
    const { code, output, errors } = await this.run([...words, '--json']);
    assert.equal(code, 0, errors);
    return JSON.parse(output);
  }
}
