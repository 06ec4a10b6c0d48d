import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { launch, type Served, Servers } from '../serve.ts';
import { newTeam } from '../teams.ts';

/** An Ownline in two processes: this one has the database and delivers nothing, so that deliveries wait. */
export interface Installation {
  readonly dataDir: string;
  readonly runtime: Runtime;
  /** Starts a receiver with a behaviour of bench/receiver.ts. `close` stops it. */
  readonly receive: (behaviour: string) => Promise<Served>;
  /** Starts a process that delivers. The caller stops it. */
  readonly deliver: (options?: {
    readonly script?: string;
    readonly args?: readonly string[];
    readonly roles?: string;
  }) => Promise<Served>;
  readonly newTeam: () => Promise<TeamId>;
  readonly close: () => Promise<void>;
}

export async function openInstallation(more: Readonly<Record<string, string>> = {}): Promise<Installation> {
  const servers = await Servers.open();
  const { dataDir } = servers;
  const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'warn', EGRESS_ALLOW_CIDRS: '127.0.0.1', ...more };
  await servers.start('server/main.ts', { settings: { ...settings, ROLES: 'api' } });
  const DATABASE_URL = await findEngineUrl(dataDir);
  const runtime = await servers.openRuntime(settings);
  return {
    dataDir,
    runtime,
    receive: (behaviour) => servers.start('bench/receiver.ts', { args: [behaviour] }),
    deliver: ({ script = 'server/main.ts', args = [], roles = 'deliver' } = {}) =>
      launch(script, { args, settings: { ...settings, DATABASE_URL, ROLES: roles } }),
    newTeam: async () => (await newTeam(runtime)).id,
    close: () => servers.close(),
  };
}
