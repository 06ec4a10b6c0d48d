import { copyFile, readFile, rm, stat, truncate } from 'node:fs/promises';

const logMaxBytes = 10 * 1024 * 1024;

/**
 * Moves the content of a log that is too long to `postgres.log.1`, replacing the earlier one. PostgreSQL keeps the file
 * open, so the file is copied and truncated, not renamed.
 */
export async function rotateLog(logFile: string): Promise<void> {
  const size = await stat(logFile).then(
    (found) => found.size,
    () => 0,
  );
  if (size <= logMaxBytes) return;
  const older = `${logFile}.1`;
  await rm(older, { force: true });
  await copyFile(logFile, older);
  await truncate(logFile);
}

/** The last lines of PostgreSQL's log, for an error message. The log has neither statements nor their values. */
export async function lastLogLines(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-8).join('\n');
}
