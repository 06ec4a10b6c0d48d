import { text } from 'node:stream/consumers';

/** Hint for options that take a secret: every user of the machine can read a process's arguments. */
export const secretOptionHint = 'better not as a word, which others on this machine can read';

/** Texts of an option, `-` replaced by the lines of standard input. */
export async function resolveSecretOptions(values: readonly string[]): Promise<string[]> {
  if (!values.includes('-')) return [...values];
  const lines = (await text(process.stdin)).split('\n').flatMap((line) => line.trim() || []);
  return values.flatMap((value) => (value === '-' ? lines : [value]));
}
