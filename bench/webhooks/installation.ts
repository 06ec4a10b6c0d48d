import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { launch, Servers } from '../serve.ts';
import { newTeam } from '../teams.ts';

/** An Ownline in two processes: this one has the database and delivers nothing, so that deliveries wait. */
export type Installation = Awaited<ReturnType<typeof openInstallation>>;

interface Delivering {
  readonly script?: string;
  readonly args?: readonly string[];
  readonly roles?: string;
}

export async function openInstallation(more: Readonly<Record<string, string>> = {}) {
  const servers = await Servers.open();
  const { dataDir } = servers;
  const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'warn', EGRESS_ALLOW_CIDRS: '127.0.0.1', ...more };
  await servers.start('server/main.ts', { settings: { ...settings, ROLES: 'api' } });
  const DATABASE_URL = await findEngineUrl(dataDir);
  const runtime = await servers.openRuntime(settings);
  return {
    dataDir,
    runtime,
    /** Starts a receiver with a behaviour of bench/receiver.ts. `close` stops it. */
    receive: (behaviour: string) => servers.start('bench/receiver.ts', { args: [behaviour] }),
    /** Starts a process that delivers. The caller stops it. */
    deliver: ({ script = 'server/main.ts', args = [], roles = 'deliver' }: Delivering = {}) =>
      launch(script, { args, settings: { ...settings, DATABASE_URL, ROLES: roles } }),
    newTeam: async () => (await newTeam(runtime)).id,
    close: () => servers.close(),
  };
}
