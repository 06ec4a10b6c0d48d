import { invalid } from '#server/platform/app-error.ts';

/** @throws AppError that names the option and its range */
export function parseNumericOption(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= min && value <= max) return value;
  throw invalid(option, `${option} must be a number from ${min} to ${max}, not "${text}".`);
}
