import type pg from 'pg';
import type { Changes } from '#server/dashboard/changes.ts';
import { applySchema } from '#server/database/apply-schema.ts';
import { ClockSync } from '#server/database/clock-sync.ts';
import { explainConnectionLimit } from '#server/database/connection-limit.ts';
import { createDataDir } from '#server/database/data-dir.ts';
import { connectionRemedy } from '#server/database/database.ts';
import { createWriteErrorMapper, withDatabaseErrors } from '#server/database/database-errors.ts';
import { startEngine } from '#server/database/engine/engine.ts';
import { Jobs, registerJobMetrics } from '#server/database/jobs.ts';
import { NotificationListener } from '#server/database/listener.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { ProcessServices } from '#server/database/slice.ts';
import { Timeline } from '#server/database/timeline.ts';
import { closeServer } from '#server/http/close-server.ts';
import { withAppBasePath } from '#server/http/html.ts';
import { createHttpServer } from '#server/http/http-server.ts';
import { checkAddress, listen } from '#server/http/listen.ts';
import { createRequestLog } from '#server/http/request-log.ts';
import type { Route } from '#server/http/route.ts';
import { securityHeaders } from '#server/http/send-error.ts';
import { firstRun } from '#server/operations/first-run.ts';
import { refusalWithoutApi } from '#server/operations/health-routes.ts';
import { logRestoreHold } from '#server/operations/record-restore.ts';
import { recordAddress } from '#server/operations/recorded-address.ts';
import { rehashOptOuts } from '#server/opt-outs/opt-out-store.ts';
import type { Loop } from '#server/platform/concurrency/loop.ts';
import type { Config } from '#server/platform/config.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { explainUnreachableLinks } from '#server/platform/network/unreachable-links.ts';
import { OutboundHttp, type OutboundHttpOptions } from '#server/platform/outbound-http/outbound-http.ts';
import { Lifecycle } from '#server/platform/process/lifecycle.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { StartError } from '#server/platform/start-error.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { createTeamConcurrencyLimiter } from '#server/usage/team-limiter.ts';
import { createAuthenticators } from './authenticators.ts';
import { openRuntime } from './open-runtime.ts';
import { listRoutes, openSlices } from './slices.ts';

export interface App {
  readonly lifecycle: Lifecycle;
  /** The URL at which the server listens, such as `http://127.0.0.1:3000`. */
  readonly address: string;
  readonly routes: readonly Route[];
  /** Notifies the setup page and the live streams of changes that any process made. */
  readonly changes: Changes;
}

interface AppOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly terminal: NodeJS.WriteStream;
  /** The lifecycle that handles the process's signals; by default the app creates one. */
  readonly lifecycle?: Lifecycle;
  /** Tests pass a clock, name servers and certificate authorities, and validate every answer against its schema. */
  readonly clock?: Clock;
  readonly checkAnswers?: boolean;
  readonly outbound?: Partial<OutboundHttpOptions>;
}

/** The composition root: opens all parts in order, so that the lifecycle can close them in reverse. */
export async function startApp(options: AppOptions): Promise<App> {
  const lifecycle = options.lifecycle ?? new Lifecycle(options.logger);
  return lifecycle.start(() => open(options, lifecycle));
}

async function open(options: AppOptions, lifecycle: Lifecycle): Promise<App> {
  const { config, logger } = options;
  const refuseAddress = (error: unknown): never => {
    throw toListenError(error, config);
  };
  // Later would be too late: a first start shows its link with the port once, and only then listens.
  await checkAddress(config).catch(refuseAddress);
  // It keeps the timeline and the address, also if the database is elsewhere. The writers log a folder that is missing.
  await createDataDir(config.dataDir).catch(() => undefined);
  const databaseUrl = config.databaseUrl ?? (await openEngine(config, logger, lifecycle));
  const runtime = await openDatabase(options, databaseUrl, lifecycle);
  const clockSync = new ClockSync(runtime);
  await clockSync.run();
  lifecycle.signal.throwIfAborted();
  await firstRun(runtime, options.terminal);

  const outbound = new OutboundHttp({ allowed: config.egressAllowed, ...options.outbound });
  lifecycle.onClose('outgoing requests', async () => outbound.close());
  const running = { address: '', loops: [] as readonly Loop[] };
  const services: ProcessServices = {
    ...runtime,
    databaseUrl,
    clockSync,
    outbound,
    running,
    isStopping: () => lifecycle.stopping,
    explainError: createWriteErrorMapper(config, runtime.clock),
  };
  const opened = openSlices(services);
  const { slices, changes } = opened;

  const jobs = new Jobs(
    services,
    slices.flatMap((slice) => slice.jobs ?? []),
  );
  const notifications = new NotificationListener(databaseUrl, logger, runtime.database);
  for (const { channels = {} } of slices)
    for (const [channel, listener] of Object.entries(channels)) notifications.on(channel, listener);
  jobs.listen(notifications);
  await withDatabaseErrors(config.databaseUrl, () => notifications.start());
  lifecycle.onClose('notifications', () => notifications.stop());
  running.loops = [...notifications.loops, ...jobs.loops];
  registerJobMetrics(runtime, running.loops);
  clockSync.onJump(() => jobs.notify());
  runtime.restoreHold.onResume(() => jobs.notify());
  logRestoreHold(runtime);
  lifecycle.onClose('loops', jobs.start({ afterListening: false }));
  for (const { drain } of slices) if (drain) lifecycle.onClose(drain.name, drain.run);

  const routes = listRoutes(config, slices);
  const server = createServer(services, opened, routes, options.checkAnswers);
  lifecycle.onClose('http', async () => {
    for (const { holds = [] } of slices) for (const held of holds) held.stop();
    await closeServer(server);
  });
  for (const sentence of explainUnreachableLinks(config)) logger.warn(sentence);
  running.address = await listen(server, config).catch(refuseAddress);
  const stopDelay = () =>
    new Promise<void>((resolve) => void runtime.clock.after(config.stopDelayMs, resolve));
  // The process serves on meanwhile, so that load balancers see /readyz?balancer fail before connections do.
  if (config.stopDelayMs > 0) lifecycle.onClose('delay of the stop', stopDelay);
  if (config.processRoles.has('api')) await recordAddress(config, logger, lifecycle);
  lifecycle.onClose('jobs that call this server', jobs.start({ afterListening: true }));
  return { lifecycle, address: running.address, routes, changes };
}

function createServer(
  services: ProcessServices,
  { slices, uses, requireSession }: ReturnType<typeof openSlices>,
  routes: readonly Route[],
  checkAnswers = false,
) {
  const { config, metrics, logger } = services;
  const record = createRequestLog(metrics, logger);
  const observers = slices.flatMap(({ observe }) => observe ?? []);
  const { byAudience, notFoundLimiter } = createAuthenticators({ ...services, uses, requireSession });
  return createHttpServer({
    ...services,
    routes,
    authenticators: byAudience,
    unrouted: refusalWithoutApi(config),
    limitNotFound: (request) => notFoundLimiter.take(request),
    limitConcurrency: createTeamConcurrencyLimiter(services),
    record: (answered) => {
      for (const observe of [record, ...observers]) observe(answered);
    },
    explain: services.explainError,
    trustProxy: config.trustProxy,
    browserHeaders: securityHeaders(config.appUrl),
    startPath: withAppBasePath(config.appUrl, '/'),
    validateResponses: checkAnswers,
  });
}

async function openEngine({ dataDir }: Config, logger: Logger, lifecycle: Lifecycle): Promise<string> {
  const engine = await startEngine({ dataDir, logger, signal: lifecycle.signal });
  lifecycle.onClose('engine', () => engine.stop());
  return engine.databaseUrl;
}

async function openDatabase(
  { config, logger, clock }: AppOptions,
  databaseUrl: string,
  lifecycle: Lifecycle,
): Promise<Runtime> {
  const runtime = await withDatabaseErrors(config.databaseUrl, async () => {
    const timeline = new Timeline(logger, config.databaseUrl && config.dataDir);
    const check = (client: pg.Client) => timeline.check(client);
    await applySchema(databaseUrl, { logger, signal: lifecycle.signal, check });
    return openRuntime(config, databaseUrl, logger, clock);
  });
  lifecycle.onClose('database', () => runtime.database.close());
  const tooFew = await explainConnectionLimit(runtime.database.pool, 1);
  if (tooFew !== undefined) logger.warn(`${tooFew} ${connectionRemedy}`);
  await rehashOptOuts(runtime);
  return runtime;
}

/**
 * Explains why the server can't listen. @returns a StartError that names the setting to change; the error itself if it
 * has another cause
 */
function toListenError(error: unknown, { host, port }: Pick<Config, 'host' | 'port'>): unknown {
  const text = sentenceFor(errorCodeOf(error), host, port);
  return text === undefined ? error : new StartError(text, error);
}

function sentenceFor(code: string | undefined, host: string, port: number): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `PORT ${port} is in use: another process listens on ${host}:${port}. Stop that process, or set PORT to a free port.`;
    case 'EACCES':
      return (
        `PORT ${port} is closed to this user: ports below 1024 belong to root. Set PORT to 1024 or more, and let a proxy ` +
        `listen on ${port}.`
      );
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
      return `HOST ${host} is no address of this machine. Set HOST to one that it has, 127.0.0.1, or 0.0.0.0 for all of them.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST ${host} is a name without an address. Set HOST to an address of this machine, such as 127.0.0.1.`;
    default:
      return undefined;
  }
}
