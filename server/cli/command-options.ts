import { text } from 'node:stream/consumers';
import { invalid } from '#server/platform/app-error.ts';

/** Hint for options that take a secret: all users of the machine can read a process's arguments. */
export const secretOptionHint = 'as an argument, other users of this machine can read it';

/** The values of an option; `-` stands for the lines of standard input. */
export async function resolveSecretOptions(values: readonly string[]): Promise<string[]> {
  if (!values.includes('-')) return [...values];
  const lines = (await text(process.stdin)).split('\n').flatMap((line) => line.trim() || []);
  return values.flatMap((value) => (value === '-' ? lines : [value]));
}

/** @throws AppError that names the option and its range */
export function parseNumericOption(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= min && value <= max) return value;
  throw invalid(option, `${option} must be a number from ${min} to ${max}, not "${text}".`);
}
