import { AppError } from './app-error.ts';

/**
 * The code of an error of the system or of a library, or the SQLSTATE of an error of PostgreSQL. For an AppError it is
 * the code of the cause. @returns undefined for anything else
 */
export function errorCodeOf(error: unknown): string | undefined {
  if (error instanceof AppError) return errorCodeOf(error.cause);
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not access it',
  EPERM: 'this user may not access it',
  EEXIST: 'it is not a folder',
  ENOTDIR: 'it is not a folder',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: 'the disk quota is used up',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its symbolic links lead in a circle',
};

/** Explains why a file or folder can't be used. For an unknown reason the sentence is the error's own message. */
export function fileErrorSentence(error: unknown): string {
  const code = errorCodeOf(error) ?? '';
  return reasons[code] === undefined ? messageOf(error) : `${reasons[code]} (${code})`;
}

/** Whether the operating system refused a file or folder. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException & { readonly path: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && 'path' in error;
}

/** Makes a handler of a rejection: it returns `value` for an error with this code, and throws every other error. */
export function onErrorCode<T>(code: string, value: T): (error: unknown) => T {
  return (error) => {
    if (errorCodeOf(error) === code) return value;
    throw error;
  };
}
