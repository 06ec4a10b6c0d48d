import { setTimeout } from 'node:timers/promises';
import { createSendMagicLink } from '#server/accounts/magic-links/magic-link.ts';
import { MagicLinkRequests } from '#server/accounts/magic-links/magic-link-requests.ts';
import { createRequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import { LastUsedTimes } from '#server/api-keys/last-used-times.ts';
import { RefusalLog } from '#server/audit/refusal-log.ts';
import { registerBackupMetrics } from '#server/backups/backup-metrics.ts';
import { NightlyBackup } from '#server/backups/nightly-backup.ts';
import { Changes } from '#server/dashboard/changes.ts';
import { LiveStreams } from '#server/dashboard/live/live-streams.ts';
import { applySchema } from '#server/database/apply-schema.ts';
import {
  changesChannel,
  clockChannel,
  dueDeliveriesChannel,
  feedChannel,
  mailChannel,
  mediaFetchesChannel,
  pacingChannel,
  phoneQueueChannel,
  restoresChannel,
  sessionsChannel,
  settingsChannel,
  simulatedNumbersChannel,
  unpublishedEventsChannel,
} from '#server/database/channels.ts';
import { ClockSync } from '#server/database/clock-sync.ts';
import { withDatabaseErrors } from '#server/database/database-errors.ts';
import { registerDatabaseMetrics } from '#server/database/database-metrics.ts';
import { startEngine } from '#server/database/engine/engine.ts';
import { NotificationListener } from '#server/database/listener.ts';
import { createWriteErrorMapper } from '#server/database/write-error.ts';
import { PollRegistry } from '#server/device-protocol/poll-registry.ts';
import { registerFeedMetrics } from '#server/events/feed-metrics.ts';
import { FeedPollRegistry } from '#server/events/feed-poll-registry.ts';
import { createPublisher } from '#server/events/publisher.ts';
import { checkMailServer, MailHealth } from '#server/mail/mail-health.ts';
import { registerMailMetrics } from '#server/mail/mail-metrics.ts';
import { createMailWorker } from '#server/mail/mail-worker.ts';
import { createSmtpCheck, createSmtpSender } from '#server/mail/smtp-sender.ts';
import { createMediaFetchWorker } from '#server/messages/media-fetch-worker.ts';
import { registerMessageMetrics, registerOutcomeMetrics } from '#server/messages/message-metrics.ts';
import { createSendBatcher } from '#server/messages/send-batcher.ts';
import { createRunSimulatedIphone } from '#server/numbers/run-simulated-iphone.ts';
import { createSimulatedPhoneWorker } from '#server/numbers/simulated-phone-worker.ts';
import { firstRun } from '#server/operations/first-run.ts';
import { warnOfUnreachableLinks } from '#server/operations/link-warnings.ts';
import { logRestoreHold } from '#server/operations/log-restore-hold.ts';
import { recordAddress } from '#server/operations/recorded-address.ts';
import { SettingsComparison } from '#server/operations/shared-settings.ts';
import { rehashOptOuts } from '#server/opt-outs/rehash-opt-outs.ts';
import { LongPolls } from '#server/platform/concurrency/long-poll.ts';
import type { Loop } from '#server/platform/concurrency/loop.ts';
import type { Config } from '#server/platform/config.ts';
import { withAppBasePath } from '#server/platform/http/app-base-path.ts';
import { closeServer } from '#server/platform/http/close-server.ts';
import { createHttpServer } from '#server/platform/http/http-server.ts';
import { listen } from '#server/platform/http/listen.ts';
import { createRequestLog } from '#server/platform/http/request-log.ts';
import type { Route } from '#server/platform/http/route.ts';
import { securityHeaders } from '#server/platform/http/send-error.ts';
import type { NumberId, TeamId, WebhookId } from '#server/platform/ids/ids.ts';
import { OutboundHttp, type OutboundHttpOptions } from '#server/platform/outbound-http/outbound-http.ts';
import { Lifecycle } from '#server/platform/process/lifecycle.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { ProgressRequests } from '#server/setup/follow-progress.ts';
import { ShortcutSigner } from '#server/setup/shortcut-signer.ts';
import { createTeamConcurrencyLimiter } from '#server/usage/team-concurrency-limiter.ts';
import { Dispatcher } from '#server/webhooks/dispatch/dispatcher.ts';
import { createAuthenticators } from './authenticators.ts';
import {
  createBackgroundJobs,
  createClockLoop,
  createRestoreHoldLoop,
  registerJobMetrics,
} from './background-jobs.ts';
import { toListenError } from './listen-error.ts';
import { openRuntime } from './open-runtime.ts';
import { createRoutes } from './routes.ts';

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

async function open(
  { config, logger, terminal, clock, checkAnswers, outbound }: AppOptions,
  lifecycle: Lifecycle,
): Promise<App> {
  const databaseUrl = config.databaseUrl ?? (await openEngine(config, logger, lifecycle));
  const { signal } = lifecycle;
  const runtime = await withDatabaseErrors(config.databaseUrl, async () => {
    await applySchema(databaseUrl, { logger, signal });
    return openRuntime(config, databaseUrl, logger, clock);
  });
  lifecycle.onClose('database', () => runtime.database.close());
  await rehashOptOuts(runtime);
  const loops: Loop[] = [];
  const clockSync = new ClockSync(runtime);
  clockSync.onJump(() => {
    for (const loop of loops) loop.notify();
  });
  await clockSync.run();
  signal.throwIfAborted();
  await firstRun(runtime, terminal);

  const heldPolls = new PollRegistry();
  registerMessageMetrics(runtime, heldPolls);
  registerOutcomeMetrics(runtime);
  registerFeedMetrics(runtime);
  registerDatabaseMetrics(runtime);
  const notifications = new NotificationListener(databaseUrl, logger);
  notifications.on(phoneQueueChannel, (payload) => {
    if (payload === '') heldPolls.wake();
    else heldPolls.wakeForMessages(payload.split(',') as NumberId[]);
  });
  notifications.on(pacingChannel, (payload) => heldPolls.wake(keysOf<NumberId>(payload)));
  // Ends held polls of older sessions. A poll that misses this notification is refused at the end of its hold.
  notifications.on(sessionsChannel, (payload) =>
    heldPolls.onSessionsStarted(payload.split(',').filter(Boolean)),
  );
  const feedPolls = new FeedPollRegistry();
  notifications.on(feedChannel, (payload) => feedPolls.wake(keysOf<TeamId>(payload)));
  const changes = new Changes(logger);
  notifications.on(changesChannel, (payload) => changes.onNotification(payload));
  const settings = new SettingsComparison(runtime, config);
  notifications.on(settingsChannel, (payload) => settings.onNotification(payload));
  const delivers = config.mail && config.processRoles.has('deliver');
  const mailHealth = new MailHealth();
  registerBackupMetrics(runtime);
  const countMail = registerMailMetrics(runtime, mailHealth);
  const mailLoop = delivers ? createMailWorker(runtime, createSmtpSender(config.mail), countMail) : undefined;
  if (mailLoop) notifications.on(mailChannel, () => mailLoop.notify());
  const publisher = config.processRoles.has('maintain') ? createPublisher(runtime) : undefined;
  if (publisher) notifications.on(unpublishedEventsChannel, () => publisher.loop.notify());
  const guarded = config.processRoles.has('deliver') ? openOutbound(config, outbound, lifecycle) : undefined;
  const dispatcher = guarded && new Dispatcher({ ...runtime, outbound: guarded });
  const mediaFetches = guarded && createMediaFetchWorker({ ...runtime, outbound: guarded });
  if (mediaFetches) notifications.on(mediaFetchesChannel, () => mediaFetches.notify());
  if (dispatcher)
    notifications.on(dueDeliveriesChannel, (payload) =>
      dispatcher.notify(payload.split(',').filter(Boolean) as WebhookId[]),
    );
  let address = '';
  const simulatedPhones = config.processRoles.has('api')
    ? createSimulatedPhoneWorker(
        runtime,
        createRunSimulatedIphone(runtime, () => address),
      )
    : undefined;
  if (simulatedPhones) notifications.on(simulatedNumbersChannel, () => simulatedPhones.notify());
  const followClock = createClockLoop(clockSync, logger);
  notifications.on(clockChannel, () => followClock.notify());
  const followRestoreHold = createRestoreHoldLoop(runtime);
  notifications.on(restoresChannel, () => followRestoreHold.notify());
  await notifications.start();
  lifecycle.onClose('notifications', () => notifications.stop());

  const uses = new LastUsedTimes(runtime);
  const sends = createSendBatcher(runtime);
  const nightlyBackup = new NightlyBackup(runtime, databaseUrl);
  loops.push(
    ...createBackgroundJobs({ ...runtime, heldPolls, feedPolls, uses, clockSync, sends, nightlyBackup }),
  );
  const own = [mailLoop, publisher?.loop, publisher?.look, dispatcher, mediaFetches].filter(
    (loop) => loop !== undefined,
  );
  const running = [followClock, followRestoreHold, ...own, ...loops];
  const jobs = [notifications, ...running, ...(simulatedPhones ? [simulatedPhones] : [])].flatMap(
    (job) => job.loops,
  );
  registerJobMetrics(runtime, () => jobs);
  runtime.restoreHold.onResume(() => {
    for (const loop of own) loop.notify();
  });
  logRestoreHold(runtime);
  const stopLoops = startInTurn(running);
  lifecycle.onClose('loops', stopLoops);

  lifecycle.onClose('nightly backup', () => nightlyBackup.stop());

  const requireSession = createRequireSession(runtime);
  const magicLinks = new MagicLinkRequests(runtime, createSendMagicLink(runtime));
  lifecycle.onClose('links to sign in', () => magicLinks.drain());
  const refusals = new RefusalLog(runtime);
  lifecycle.onClose('refusals', () => refusals.drain());
  const progressRequests = new ProgressRequests();
  const heldProbes = new LongPolls<'probe'>();
  const liveStreams = new LiveStreams({ ...runtime, changes });
  const { shortcutSignCommand } = config;
  const signer = shortcutSignCommand && new ShortcutSigner(runtime, shortcutSignCommand);
  const isStopping = () => lifecycle.stopping;
  const explainError = createWriteErrorMapper(config, runtime.clock);
  const routes = createRoutes({
    ...runtime,
    jobs: () => jobs,
    explainError,
    clockStatus: () => clockSync.status,
    heldPolls,
    feedPolls,
    sends,
    changes,
    progressRequests,
    liveStreams,
    heldProbes,
    signer,
    requireSession,
    magicLinks,
    refusals,
    mailHealth,
    isStopping,
  });
  const record = createRequestLog(runtime.metrics, logger);
  const { byAudience, notFoundLimiter } = createAuthenticators({ ...runtime, uses, requireSession });
  const server = createHttpServer({
    routes,
    authenticators: byAudience,
    limitNotFound: (request) => notFoundLimiter.take(request),
    limitConcurrency: createTeamConcurrencyLimiter(runtime),
    record: (answered) => {
      record(answered);
      refusals.note(answered);
    },
    isStopping,
    explain: explainError,
    ids: runtime.ids,
    clock: runtime.clock,
    logger,
    trustProxy: config.trustProxy,
    browserHeaders: securityHeaders(config.appUrl),
    startPath: withAppBasePath(config.appUrl, '/'),
    validateResponses: checkAnswers ?? false,
  });
  lifecycle.onClose('http', async () => {
    for (const held of [heldPolls, feedPolls, progressRequests, liveStreams, heldProbes, signer])
      held?.stop();
    await closeServer(server);
  });
  warnOfUnreachableLinks(config, logger);
  if (delivers) checkMailServer(createSmtpCheck(config.mail), config.mail, mailHealth, logger);
  address = await listen(server, config).catch((error: unknown) => {
    throw toListenError(error, config);
  });
  if (config.processRoles.has('api')) await recordAddress(config, logger, lifecycle);
  if (simulatedPhones) {
    // The simulated phones call this process over HTTP. So they start once it listens, and stop before it closes.
    simulatedPhones.start();
    lifecycle.onClose('simulated phones', () => simulatedPhones.stop());
  }
  return { lifecycle, address, routes, changes };
}

/** The ids in the payload of a notification; undefined if it is about all. */
function keysOf<Id extends string>(payload: string): Id[] | undefined {
  return payload === '' ? undefined : (payload.split(',') as Id[]);
}

interface Startable {
  readonly start: () => Promise<void> | void;
  readonly stop: () => Promise<void>;
}

/**
 * Starts loops one after the other, so that their first rounds share a few connections instead of opening many. A long
 * first round delays the next loop by at most 100 ms. @returns the function that stops the loops
 */
function startInTurn(loops: readonly Startable[]): () => Promise<void> {
  const turnMaxMs = 100;
  let stopped = false;
  const started = (async () => {
    for (const loop of loops) {
      if (stopped) return;
      await Promise.race([loop.start(), setTimeout(turnMaxMs, undefined, { ref: false })]);
    }
  })();
  return async () => {
    stopped = true;
    await started;
    await Promise.all(loops.map((loop) => loop.stop()));
  };
}

function openOutbound(
  { egressAllowed }: Config,
  options: Partial<OutboundHttpOptions> | undefined,
  lifecycle: Lifecycle,
): OutboundHttp {
  const outbound = new OutboundHttp({ allowed: egressAllowed, ...options });
  lifecycle.onClose('outgoing requests', async () => outbound.close());
  return outbound;
}

async function openEngine({ dataDir }: Config, logger: Logger, lifecycle: Lifecycle): Promise<string> {
  const engine = await startEngine({ dataDir, logger, signal: lifecycle.signal });
  lifecycle.onClose('engine', () => engine.stop());
  return engine.databaseUrl;
}
