import { mkdir } from 'node:fs/promises';

/**
 * Creates DATA_DIR if it is missing. Root's has mode 0711, so that PostgreSQL's user can pass through and list nothing;
 * any other user's has 0700. An existing one stays as it is.
 */
export async function createDataDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}
