import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { repository } from './spawned-service.ts';

export interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** `ownline` in a process of its own, beside the server of a data folder. */
export class CommandLine {
  readonly #settings: Readonly<Record<string, string>>;

  /** @param settings in the words of docs/configuration.md */
  constructor(dataDir: string, settings: Readonly<Record<string, string>> = {}) {
    this.#settings = { DATA_DIR: dataDir, ...settings };
  }

  /** @param settings in the words of docs/configuration.md */
  run(
    words: readonly string[],
    settings: Readonly<Record<string, string>> = {},
    input = '',
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        ['server/cli/main.ts', ...words],
        { cwd: repository, env: { ...process.env, ...this.#settings, ...settings } },
        (error, output, errors) => resolve({ code: Number(error?.code ?? 0), output, errors }),
      );
      child.stdin?.end(input);
    });
  }

  /** Runs a command with --json. @returns its output @throws where it failed */
  async json(...words: readonly string[]) {
    const { code, output, errors } = await this.run([...words, '--json']);
    assert.equal(code, 0, errors);
    return JSON.parse(output);
  }
}
