import { mkdir } from 'node:fs/promises';

/**
 * Makes DATA_DIR where it is missing. Root's has mode 0711, so that PostgreSQL's user can pass through and list nothing;
 * anybody else's 0700. One that is there stays as it is.
 */
export async function createDataDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}
