import type { Logger } from '#server/platform/process/logger.ts';
import { prepareCluster } from './cluster.ts';
import { engineUrl, prepareApplicationDatabase } from './engine-connection.ts';
import { toEngineError } from './engine-error.ts';
import { type EngineParts, findEnginePackage, installPrograms, removeOtherVersions } from './engine-files.ts';
import { checkReachable, engineLayout, prepareDataDir } from './engine-folders.ts';
import { lockDataDir } from './engine-lock.ts';
import { chooseEngineUser } from './engine-user.ts';
import { prepareSocketFolder, socketPort } from './socket-folder.ts';
import { Supervisor } from './supervisor.ts';

/** The embedded PostgreSQL of one DATA_DIR, owned by this process. */
export interface Engine {
  /** URL for the application's role, which is not a superuser. */
  readonly databaseUrl: string;
  /** Pid of the running PostgreSQL; during a restart, that of the previous one. */
  postmasterPid(): number;
  /** Stops PostgreSQL and releases DATA_DIR. A second call waits for the first. */
  stop(): Promise<void>;
}

interface EngineOptions {
  readonly dataDir: string;
  readonly logger: Logger;
  /** PostgreSQL settings that override ours, such as fsync=off in tests. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** True lets the application's role create databases, as tests do. */
  readonly createdb?: boolean;
  readonly signal?: AbortSignal;
  /** How often the size of postgres.log is checked. */
  readonly logCheckIntervalMs?: number;
}

/**
 * Starts the embedded PostgreSQL of DATA_DIR, and keeps it running until `stop`. The first start creates the database.
 * A later start takes over a PostgreSQL that outlived its killed server process.
 * @throws EngineError with a message for the operator, or the reason of `signal`
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const signal = options.signal ?? new AbortController().signal;
  const source = await findEnginePackage();
  const layout = engineLayout(await prepareDataDir(options.dataDir));
  const lock = await lockDataDir(layout).catch((error: unknown) => {
    throw toEngineError(error, layout.dataDir);
  });
  let supervisor: Supervisor | undefined;
  try {
    const user = await chooseEngineUser(layout, options.logger);
    await checkReachable(layout.dataDir, user);
    const programs = await installPrograms(source, layout, user);
    const flush = options.parameters?.fsync !== 'off';
    const parts: EngineParts = { layout, programs, user, logger: options.logger };
    await prepareCluster(parts, flush, signal);
    const socketFolder = await prepareSocketFolder(layout, user);
    const words = postgresArguments(layout.pgFolder, socketFolder, socketPort, options.parameters ?? {});
    supervisor = new Supervisor(parts, {
      words,
      socketFolder,
      logCheckIntervalMs: options.logCheckIntervalMs ?? 60_000,
    });
    await supervisor.start(signal);
    await prepareApplicationDatabase(socketFolder, options.createdb ?? false);
    await removeOtherVersions(source, layout, options.logger);
    return runningEngine(supervisor, engineUrl(socketFolder), () => lock.release());
  } catch (error) {
    const failure = signal.aborted ? error : toEngineError(error, layout.dataDir);
    await supervisor?.stop().catch(() => undefined);
    await lock.release();
    throw failure;
  }
}

function runningEngine(supervisor: Supervisor, databaseUrl: string, release: () => Promise<void>): Engine {
  let stopped: Promise<void> | undefined;
  return {
    databaseUrl,
    postmasterPid: () => supervisor.pid,
    stop() {
      stopped ??= supervisor.stop().finally(release);
      return stopped;
    },
  };
}

/**
 * The command line of PostgreSQL. Settings are passed here rather than in postgresql.conf, so that a new release can
 * change them. `parameters` override them.
 */
function postgresArguments(
  pgFolder: string,
  socketFolder: string,
  port: number,
  parameters: Readonly<Record<string, string>>,
): string[] {
  const settings = {
    listen_addresses: '',
    // The setting is a list: quotes protect a path with a comma or a space.
    unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port: String(port),
    max_connections: '200',
    shared_buffers: '128MB',
    jit: 'off',
    // Queues change all the time. Their dead rows are removed often, so that look-ups pass few of them.
    autovacuum_naptime: '10s',
    // Compression and checkpoints of the write-ahead log keep their defaults (decision 0035).
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    // The detail and the statement of an error may contain addresses, texts and hashes, so PostgreSQL does not log
    // them.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    ...parameters,
  };
  return ['-D', pgFolder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
