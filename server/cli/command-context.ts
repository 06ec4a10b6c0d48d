import { text } from 'node:stream/consumers';
import { openRuntime } from '#server/app/open-runtime.ts';
import { applySchema } from '#server/database/apply-schema.ts';
import { withDatabaseErrors } from '#server/database/database-errors.ts';
import { databaseUrlOf } from '#server/database/database-url.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { OnRuntime } from '#server/database/slice.ts';
import { addressSettings, readRecordedAddress } from '#server/operations/recorded-address.ts';
import { AppError, invalid } from '#server/platform/app-error.ts';
import { type Config, loadEnvironment, readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { printResult } from '#server/platform/process/print-result.ts';
import { StartError } from '#server/platform/start-error.ts';

/** Hint for options that take a secret: all users of the machine can read a process's arguments. */
export const secretOptionHint = 'as an argument, other users of this machine can read it';

/** Returns the values of an option, and replaces `-` by the lines of standard input. */
export async function resolveSecretOptions(values: readonly string[]): Promise<string[]> {
  if (!values.includes('-')) return [...values];
  const lines = (await text(process.stdin)).split('\n').flatMap((line) => line.trim() || []);
  return values.flatMap((value) => (value === '-' ? lines : [value]));
}

/** Makes the reader of a numeric option. It throws an AppError that names the option and its range. */
export function numberFrom(option: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= min && value <= max) return value;
    throw invalid(option, `${option} must be a number from ${min} to ${max}, not "${text}".`);
  };
}

/** The origin of the service's address. `record`: the service recorded the address in DATA_DIR. */
export type AddressSource = 'settings' | 'record' | 'default';

/**
 * Reads the settings of a command that runs beside a service. If the environment has no setting of the address, the
 * address is the one that the service recorded in DATA_DIR.
 * @throws ConfigError that lists every problem
 */
export async function readCommandConfig(): Promise<{
  readonly config: Config;
  readonly addressSource: AddressSource;
}> {
  const environment = loadEnvironment();
  const config = readConfig(environment);
  if (addressSettings.some((name) => environment[name]?.trim())) return { config, addressSource: 'settings' };
  const recorded = await readRecordedAddress(config);
  return recorded
    ? { config: readConfig({ ...environment, ...recorded }), addressSource: 'record' }
    : { config, addressSource: 'default' };
}

/** Runs a command on the database of a running server, through the same use cases. */
export async function withRuntime<T>(command: (runtime: Runtime) => Promise<T>): Promise<T> {
  const { config } = await readCommandConfig();
  const databaseUrl = await databaseUrlOf(config);
  const runtime = await withDatabaseErrors(config.databaseUrl, async () => {
    await applySchema(databaseUrl, { logger: createLogger('warn') });
    return openRuntime(config, databaseUrl, createLogger('error'));
  });
  try {
    return await command(runtime);
  } finally {
    await runtime.database.close();
  }
}

export const onRuntime: OnRuntime = (work) => async (options) =>
  printResult(await withRuntime((runtime) => work(runtime, options)), options.json);

/** The error as a sentence for the person at the terminal; an unexpected error keeps its stack. */
export function describeCommandError(error: unknown): string {
  if (error instanceof AppError || error instanceof StartError) return error.message;
  if (!(error instanceof Error)) return String(error);
  return error.name === 'CommandError' ? error.message : (error.stack ?? error.message);
}
