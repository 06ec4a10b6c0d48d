import { openRuntime } from '#server/app/open-runtime.ts';
import { withDatabaseErrors } from '#server/database/database-errors.ts';
import { findEngineUrl } from '#server/database/engine/engine-url.ts';
import { migrate } from '#server/database/migrate.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { type Config, loadEnvironment, readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { StartError } from '#server/platform/start-error.ts';

/** The address of the database that the server of this DATA_DIR uses, or DATABASE_URL. */
export function databaseUrlOf(config: Config): Promise<string> {
  return config.databaseUrl === undefined
    ? findEngineUrl(config.dataDir)
    : Promise.resolve(config.databaseUrl);
}

/** Runs a command beside a running server, on the same database and through the same use cases. */
export async function withRuntime<T>(command: (runtime: Runtime) => Promise<T>): Promise<T> {
  const config = readConfig(loadEnvironment());
  const databaseUrl = await databaseUrlOf(config);
  const runtime = await withDatabaseErrors(config.databaseUrl, async () => {
    await migrate(databaseUrl);
    return openRuntime(config, databaseUrl, createLogger('error'));
  });
  try {
    return await command(runtime);
  } finally {
    await runtime.database.close();
  }
}

/** Prints a result: one JSON value with --json, else a line per field. */
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

/** Prints a list: one JSON array with --json, else a table with the names of the columns above it. */
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

/** The error as a sentence for the person at the terminal; an unforeseen one keeps its stack. */
export function describeCommandError(error: unknown): string {
  if (error instanceof AppError || error instanceof StartError) return error.message;
  if (!(error instanceof Error)) return String(error);
  return error.name === 'CommandError' ? error.message : (error.stack ?? error.message);
}
