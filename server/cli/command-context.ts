import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { openRuntime } from '#server/app/open-runtime.ts';
import { applySchema } from '#server/database/apply-schema.ts';
import { withDatabaseErrors } from '#server/database/database-errors.ts';
import { startEngine } from '#server/database/engine/engine.ts';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { isDataDirOwned } from '#server/database/engine/engine-lock.ts';
import { engineLayout } from '#server/database/engine/engine-user.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { addressSettings, readRecordedAddress } from '#server/operations/shared-settings.ts';
import { AppError, invalid } from '#server/platform/app-error.ts';
import { type Config, loadEnvironment, readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { StartError } from '#server/platform/start-error.ts';

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

/** The URL of the database: DATABASE_URL, or that of the server that runs in DATA_DIR. */
export function databaseUrlOf(config: Config): Promise<string> {
  return config.databaseUrl === undefined
    ? findEngineUrl(config.dataDir)
    : Promise.resolve(config.databaseUrl);
}

/**
 * Runs work with the database's URL. If no server runs, it starts DATA_DIR's embedded database for the work, and stops
 * it afterwards.
 * @param create true creates a missing embedded database
 * @param signal aborts the start of the embedded database
 */
export async function withDatabaseUrl<T>(
  config: Config,
  create: boolean,
  work: (databaseUrl: string) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  if (config.databaseUrl !== undefined) {
    const { databaseUrl } = config;
    return withDatabaseErrors(databaseUrl, () => work(databaseUrl));
  }
  const running = await findEngineUrl(config.dataDir).catch(async (error: unknown) => {
    if (!create && !existsSync(engineLayout(config.dataDir).pgFolder)) throw error;
    return undefined;
  });
  // The engine takes over a PostgreSQL that a killed command left, and ends it after the work.
  if (running !== undefined && isDataDirOwned(engineLayout(config.dataDir))) return work(running);
  const engine = await startEngine({ dataDir: config.dataDir, logger: createLogger('error'), signal });
  try {
    return await work(engine.databaseUrl);
  } finally {
    await engine.stop();
  }
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

/** Prints a result: one JSON value with --json, otherwise a line per field. */
export function printResult(result: Readonly<Record<string, unknown>>, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(result)}\n`);
    return;
  }
  const width = Math.max(...Object.keys(result).map((name) => name.length));
  for (const [name, value] of Object.entries(result)) {
    process.stdout.write(
      `${name.padEnd(width)}  ${Array.isArray(value) ? value.join(', ') : String(value)}\n`,
    );
  }
}

/** Prints a list: one JSON array with --json, otherwise a table with column names. */
export function printRows(rows: readonly object[], json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(rows)}\n`);
    return;
  }
  const [first] = rows;
  if (!first) {
    process.stdout.write('none\n');
    return;
  }
  const names = Object.keys(first);
  const lines = [names, ...rows.map((row) => Object.values(row).map(cell))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = lines.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  process.stdout.write(`${padded.join('\n')}\n`);
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** The error as a sentence for the person at the terminal; an unexpected error keeps its stack. */
export function describeCommandError(error: unknown): string {
  if (error instanceof AppError || error instanceof StartError) return error.message;
  if (!(error instanceof Error)) return String(error);
  return error.name === 'CommandError' ? error.message : (error.stack ?? error.message);
}
