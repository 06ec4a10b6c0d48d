import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRuntime } from '#server/app/open-runtime.ts';
import { findEngineUrl } from '#server/database/engine/engine-url.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { operator } from '#server/platform/actor.ts';
import { readConfig } from '#server/platform/config.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { createTeam } from '#server/teams/team/create-team.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { type Served, serve } from '../serve.ts';

/** An Ownline in two processes: this one has the database and delivers nothing, so that deliveries wait. */
export interface Installation {
  readonly dataDir: string;
  readonly runtime: Runtime;
  /** Starts a server of the benchmarks, such as a webhook receiver. `close` stops it. */
  readonly start: (script: string, args?: readonly string[]) => Promise<Served>;
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
  const dataDir = await mkdtemp(join(tmpdir(), 'ownline-bench-'));
  const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'warn', EGRESS_ALLOW_CIDRS: '127.0.0.1', ...more };
  const served: Served[] = [];
  const begin = async (script: string, args: readonly string[], of: Readonly<Record<string, string>>) => {
    const port = await freePort();
    return serve(script, [...args, String(port)], { ...settings, ...of, PORT: String(port) }, port);
  };
  served.push(await begin('server/main.ts', [], { ROLES: 'api' }));
  const databaseUrl = await findEngineUrl(dataDir);
  const config = readConfig({ ...settings, DATABASE_URL: databaseUrl });
  const runtime = await openRuntime(config, databaseUrl, createLogger('warn'));
  return {
    dataDir,
    runtime,
    start: async (script, args = []) => {
      const server = await begin(script, args, {});
      served.push(server);
      return server;
    },
    deliver: ({ script = 'server/main.ts', args = [], roles = 'deliver' } = {}) =>
      begin(script, args, { DATABASE_URL: databaseUrl, ROLES: roles }),
    newTeam: async () => {
      const team = await runtime.database.transaction((trx) =>
        createTeam(trx, runtime, { name: 'Example team', plan: 'enterprise', by: operator }),
      );
      return team.id;
    },
    close: async () => {
      await runtime.database.close();
      for (const server of served.reverse()) await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
