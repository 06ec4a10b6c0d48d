import { mkdir, open } from 'node:fs/promises';

/**
 * Creates DATA_DIR if it is missing, with mode 0700. As root the mode is 0711, so that PostgreSQL's user can pass
 * through it but not list it. An existing folder stays as it is.
 */
export async function createDataDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}

/** Flushes a file or a folder to the disk. */
export async function flushPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
