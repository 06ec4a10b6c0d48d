import { describeFullDisk } from '#server/database/data-dir.ts';
import { fileErrorSentence, isFileError, messageOf } from '#server/platform/error-code.ts';
import { StartError } from '#server/platform/start-error.ts';

/** The embedded database can't be used. The message has the cause and the remedy. */
export class EngineError extends StartError {}

/**
 * Maps an error to the cause and remedy of a failed start of the embedded database.
 * @returns an EngineError; the error itself if the cause is unknown
 */
export function toEngineError(error: unknown, dataDir: string): unknown {
  const message = messageOf(error);
  const full = describeFullDisk(dataDir);
  if (full !== undefined || /No space left on device|ENOSPC/.test(message)) {
    const tooSmall = `The disk of ${dataDir} is too small: a new database takes 130 MB. Free space on it, or make it larger.`;
    return new EngineError(`${full ?? tooSmall} The failure: ${message}`, error);
  }
  if (!isFileError(error)) return error;
  return new EngineError(
    `DATA_DIR ${dataDir} can't be used, because of ${error.path}: ${fileErrorSentence(error)}. Start Ownline as the user who owns ` +
      'the folder, or choose another DATA_DIR.',
    error,
  );
}
