/**
 * An error of a start or a command that the operator can remove. Only its message is printed: it names the setting and
 * the remedy, and never contains a credential.
 */
export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StartError';
  }
}

/** All problems of the settings together, one per line; each says what to write instead. */
export class ConfigError extends StartError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(`The settings need attention:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`, cause);
    this.name = 'ConfigError';
    this.problems = problems;
  }
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

/** Explains why a file or folder can't be used. An unknown reason gets the error's own message. */
export function fileErrorSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return reasons[code] === undefined ? error.message : `${reasons[code]} (${code})`;
}

/** Whether the operating system refused a file or folder. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException & { readonly path: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && 'path' in error;
}

/** Makes a handler of a rejection: it returns `value` for an error with this code, and throws every other error. */
export function onErrorCode<T>(code: string, value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === code) return value;
    throw error;
  };
}
