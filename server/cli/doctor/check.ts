/** Result of one check of `ownline doctor`. */
export interface Check {
  /** The name of the check in snake_case. It never changes, because scripts look for it. */
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly message: string;
  /** A sentence about what to do; null if nothing needs doing. */
  readonly fix: string | null;
}

const check =
  (state: Check['state']) =>
  (name: string, message: string, fix: string): Check => ({ name, state, message, fix });

export const ok = (name: string, message: string): Check => ({ name, state: 'ok', message, fix: null });
export const warning = check('warning');
export const failed = check('failed');

/** Formats a size in bytes: `2.3 GB`, `12 MB`, `40 kB`. */
export function sizeText(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 1e6 ? `${Math.round(bytes / 1e6)} MB` : `${Math.ceil(bytes / 1e3)} kB`;
}
