import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { given } from '#test/support/service/given.ts';
import { spawnService } from './spawned-service.ts';

export type FirstService = Awaited<ReturnType<typeof spawnFirstService>>;

/** Starts a process for the first time, with a new DATA_DIR. */
export async function spawnFirstService(settings: Readonly<Record<string, string>> = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'ownline-first-'));
  const service = await spawnService({ settings: { DATA_DIR: dataDir, ...settings } });
  const close = async () => {
    await service.kill('SIGTERM');
    await rm(dataDir, { recursive: true, force: true });
  };
  return { ...service, dataDir, close };
}

/** A process that starts for the first time, for a suite. */
export function givenSpawnedService(settings: Readonly<Record<string, string>> = {}): FirstService {
  return given(() => spawnFirstService(settings));
}
