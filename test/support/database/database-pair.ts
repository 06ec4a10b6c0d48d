import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applySchema } from '#server/database/apply-schema.ts';
import { startEngine } from '#server/database/engine/engine.ts';
import { createLogger } from '#server/platform/process/logger.ts';

export interface DatabasePair {
  /** The former primary, which was started again, and the promoted copy. */
  readonly olderSocket: string;
  readonly newerSocket: string;
  readonly close: () => Promise<void>;
}

/**
 * Makes two PostgreSQL of one cluster that both accept writes: a copy of a stopped primary recovered and was promoted,
 * and the primary came back.
 */
export async function startDatabasePair(folder: string): Promise<DatabasePair> {
  const [olderDir, newerDir] = [join(folder, 'older'), join(folder, 'newer')];
  // PostgreSQL runs as another user if the tests run as root.
  await chmod(folder, 0o711);
  const parameters = { fsync: 'off' };
  const start = (dataDir: string, more = {}) =>
    startEngine({ dataDir, logger: createLogger('silent'), parameters: { ...parameters, ...more } });
  const first = await start(olderDir);
  await applySchema(first.databaseUrl);
  await first.stop();
  await mkdir(newerDir);
  await cp(join(olderDir, 'pg'), join(newerDir, 'pg'), { recursive: true, preserveTimestamps: true });
  await writeFile(join(newerDir, 'pg', 'recovery.signal'), '');
  const newer = await start(newerDir, { restore_command: 'false', hot_standby: 'off' });
  const older = await start(olderDir);
  return {
    olderSocket: join(olderDir, 'socket'),
    newerSocket: join(newerDir, 'socket'),
    close: async () => void (await Promise.all([older.stop(), newer.stop()])),
  };
}
