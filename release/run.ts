import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The folder of the clone, without a slash at its end. */
export const repository = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** Runs a program in the clone or another folder. @returns its output @throws with its standard error */
export async function run(
  program: string,
  words: readonly string[],
  { cwd = repository, env = {} }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 2 ** 26 };
  return (await execute(program, words, options)).stdout.trim();
}
