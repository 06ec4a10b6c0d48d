import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type pg from 'pg';
import type { Grant } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import { createKey } from '#server/api-keys/api-keys.ts';
import { startApp } from '#server/app/app.ts';
import { openRuntime } from '#server/app/open-runtime.ts';
import { operator } from '#server/platform/actor.ts';
import { readConfig } from '#server/platform/config.ts';
import { publicId, type TeamId } from '#server/platform/ids.ts';
import type { OutboundHttpOptions } from '#server/platform/outbound-http/outbound-http.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { StartError } from '#server/platform/start-error.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { createTeam, setTeamPlan } from '#server/teams/team/team.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { listenLocally } from '#test/support/proxies/listen-locally.ts';
import { ApiClient } from './api-client.ts';

export interface TestTeam {
  readonly id: TeamId;
  readonly publicId: string;
  readonly api: ApiClient;
}

interface TeamOptions {
  readonly plan?: PlanName;
  readonly monthlyLimit?: number;
  readonly grants?: Grant[];
}

/** Default time for which a poll is held. It is short, because a test waits this long for each idle poll. */
const holdMs = 200;

/** A whole service in the test's process, with a new database and a clock that the test moves. */
export type TestService = Awaited<ReturnType<typeof startTestService>>;

/**
 * Starts a service. `settings` in the words of docs/configuration.md replace those of the tests: `{
 * DEVICE_HOLD_SECONDS: '1' }`. `{port}` in a setting is the port: `{ APP_URL: 'http://localhost:{port}' }`.
 * DATABASE_URL names another database than a new one.
 * @param prepare is called with the new database before anything connects to it
 */
export async function startTestService(
  settings: Readonly<Record<string, string>> = {},
  outbound: Partial<OutboundHttpOptions> = {},
  prepare: (databaseUrl: string) => Promise<void> = async () => undefined,
) {
  const { DATABASE_URL: url } = settings;
  const database = url ? { url, close: async () => undefined } : await createTestDatabase();
  await prepare(database.url);
  const dataDir = await mkdtemp(join(tmpdir(), 'ownline-service-'));
  const clock = new Clock();
  const logger = createLogger(settings.LOG_LEVEL ?? 'fatal');
  const open = async (ownClock = clock, more: Readonly<Record<string, string>> = {}) => {
    const port = await freePort();
    const read = readConfig({
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      PORT: String(port),
      RATE_LIMITS: 'off',
      PACING: 'off',
      ...Object.fromEntries(
        Object.entries({ ...settings, ...more }).map(([name, value]) => [
          name,
          value.replace('{port}', String(port)),
        ]),
      ),
    });
    const config = settings.DEVICE_HOLD_SECONDS === undefined ? { ...read, deviceHoldMs: holdMs } : read;
    const terminal = new PassThrough() as unknown as NodeJS.WriteStream;
    const app = await startApp({
      config,
      logger,
      terminal,
      clock: ownClock,
      checkAnswers: true,
      outbound,
    });
    return { app, config, baseUrl: `http://127.0.0.1:${port}` };
  };
  const { app, config, baseUrl } = await open().catch(againIfPortInUse(() => open()));
  const runtime = await openRuntime(config, database.url, logger, clock);
  const makeKey = async (teamId: TeamId, grants: Grant[]) => {
    const { row, key } = await runtime.database.transaction((trx) =>
      createKey(trx, runtime, { teamId, name: 'test', permissions: grants, by: operator }),
    );
    return { id: row.id, key };
  };
  const newKey = async (teamId: TeamId, grants: Grant[]) =>
    new ApiClient(baseUrl, (await makeKey(teamId, grants)).key);
  return {
    baseUrl,
    databaseUrl: database.url,
    dataDir,
    clock,
    app,
    runtime,
    makeKey,
    newKey,
    /** Starts a service on the same database, as a second process would, with the same or another clock. */
    startAnother: async (ownClock?: Clock, more?: Readonly<Record<string, string>>) => {
      const other = await open(ownClock, more).catch(againIfPortInUse(() => open(ownClock, more)));
      return {
        app: other.app,
        baseUrl: other.baseUrl,
        close: async () => void (await other.app.lifecycle.close()),
      };
    },
    newTeam: async ({
      plan = 'enterprise',
      monthlyLimit,
      grants = ['*'],
    }: TeamOptions = {}): Promise<TestTeam> => {
      const team = await runtime.database.transaction((trx) =>
        createTeam(trx, runtime, { name: 'Example team', plan, by: operator }),
      );
      if (monthlyLimit !== undefined)
        await setTeamPlan(runtime.database.pool, {
          teamId: team.id,
          plan,
          monthlyMessageLimit: monthlyLimit,
        });
      return { id: team.id, publicId: publicId('team', team.id), api: await newKey(team.id, grants) };
    },
    /** Queries the database for data that no answer shows. */
    query: async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []) => {
      const result = await runtime.database.pool.query<Row>(sql, values);
      return result.rows;
    },
    close: async () => {
      await app.lifecycle.close();
      await runtime.database.close();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Repeats a start with another port if another process took the free one. */
function againIfPortInUse<T>(start: () => Promise<T>): (error: unknown) => Promise<T> {
  return (error) => {
    if (error instanceof StartError && error.message.includes('is in use')) return start();
    throw error;
  };
}

/** Finds a port that is free at this moment; another process may take it. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenLocally(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
