import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { BackupError } from '#server/database/backup/backup-error.ts';
import { readPassphraseFile } from '#server/database/backup/passphrase.ts';
import { fileErrorSentence } from '#server/platform/file-error.ts';

export async function readPassphrase(path: string | undefined): Promise<string | undefined> {
  return path === undefined ? undefined : readPassphraseFile(path);
}

/** @param file `-` is standard input */
export function openInput(file: string): Readable {
  return file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 256 * 1_024 });
}

/**
 * Explains an error of reading a file. @returns an error with a sentence that names the file; the same error if it has
 * another cause
 */
export function explainInput(error: unknown, file: string): unknown {
  const isOfFile = error instanceof Error && 'syscall' in error && !('address' in error);
  return isOfFile ? new BackupError(`${file} can't be read: ${fileErrorSentence(error)}.`, error) : error;
}
