import type { FastifyInstance } from 'fastify';
import { accountRoutes } from '#server/accounts/account-routes.ts';
import {
  createAccountDoor,
  createIdentify,
  createPageDoor,
  createVisitorDoor,
} from '#server/accounts/doors.ts';
import { LinkRequests } from '#server/accounts/link-requests.ts';
import { passkeyRoutes } from '#server/accounts/passkey-routes.ts';
import { createSendSignInLink } from '#server/accounts/send-sign-in-link.ts';
import { signInPageRoutes } from '#server/accounts/sign-in-page-routes.ts';
import { signInRoutes } from '#server/accounts/sign-in-routes.ts';
import { createApiDoor } from '#server/api-keys/api-door.ts';
import { createAuthenticate } from '#server/api-keys/authenticate.ts';
import { KeyUses } from '#server/api-keys/key-uses.ts';
import { apiKeyRoutes } from '#server/api-keys/routes.ts';
import { RefusalLog } from '#server/audit/refusal-log.ts';
import { auditRoutes } from '#server/audit/routes.ts';
import { overviewRoutes } from '#server/dashboard/overview-routes.ts';
import { forMembers } from '#server/dashboard/team-routes.ts';
import { startEngine } from '#server/database/engine/engine.ts';
import { migrate } from '#server/database/migrate.ts';
import { Notifications } from '#server/database/notifications.ts';
import { ensurePartitions } from '#server/database/partitions.ts';
import { createArrivals } from '#server/device-protocol/arrive.ts';
import { deviceRoutes } from '#server/device-protocol/routes.ts';
import { WaitingPolls } from '#server/device-protocol/waiting-polls.ts';
import { queueChannel } from '#server/devices/queue-channel.ts';
import { MailLoop } from '#server/mail/mail-loop.ts';
import { mailChannel } from '#server/mail/mail-store.ts';
import { createSmtpSender } from '#server/mail/smtp-sender.ts';
import { watchQueue } from '#server/messages/queue-metrics.ts';
import { messageRoutes } from '#server/messages/routes.ts';
import { createSendAcceptor } from '#server/messages/send-acceptor.ts';
import { numberRoutes } from '#server/numbers/routes.ts';
import { setupPageRoutes } from '#server/numbers/setup-page-routes.ts';
import type { Clock } from '#server/platform/clock.ts';
import { createHttpServer } from '#server/platform/http/http-server.ts';
import type { Route } from '#server/platform/http/route.ts';
import { securityHeaders } from '#server/platform/http/security-headers.ts';
import type { NumberId } from '#server/platform/ids.ts';
import { Lifecycle } from '#server/platform/lifecycle.ts';
import type { Logger } from '#server/platform/logger.ts';
import { acceptRoutes } from '#server/teams/accept-routes.ts';
import { invitationRoutes } from '#server/teams/invitation-routes.ts';
import { invitePageRoutes } from '#server/teams/invite-page-routes.ts';
import { memberRoutes } from '#server/teams/member-routes.ts';
import { teamRoutes } from '#server/teams/routes.ts';
import { createTeamDoor } from '#server/teams/team-door.ts';
import { RateLimits } from '#server/usage/rate-limit.ts';
import { usageRoutes } from '#server/usage/routes.ts';
import { apiReferenceRoutes } from './api-reference.ts';
import type { Config } from './config.ts';
import { connect } from './connect.ts';
import { firstStart } from './first-start.ts';
import { createLoops } from './loops.ts';
import { createRecorder } from './observe.ts';
import { operationsRoutes } from './operations-routes.ts';
import { whenMemberRemoved, whenNumberRemoved, whenRoleMoved } from './participants.ts';

export interface App {
  readonly lifecycle: Lifecycle;
  /** Where it listens: `http://127.0.0.1:3000`. */
  readonly address: string;
  readonly routes: readonly Route[];
}

interface AppOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly terminal: NodeJS.WriteStream;
  /** Tests bring their own clock, and have every answer held against its schema. */
  readonly clock?: Clock;
  readonly checkAnswers?: boolean;
}

/** The composition root: opens everything in order, so that the lifecycle can close it in reverse. */
export async function startApp(options: AppOptions): Promise<App> {
  const lifecycle = new Lifecycle(options.logger);
  try {
    return await open(options, lifecycle);
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

async function open(
  { config, logger, terminal, clock, checkAnswers }: AppOptions,
  lifecycle: Lifecycle,
): Promise<App> {
  let databaseUrl = config.databaseUrl;
  if (databaseUrl === undefined) {
    const engine = await startEngine({ dataDir: config.dataDir, logger });
    lifecycle.onClose('engine', () => engine.stop());
    databaseUrl = engine.databaseUrl;
  }
  await migrate(databaseUrl);
  const runtime = await connect(config, databaseUrl, logger, clock);
  const { database } = runtime;
  lifecycle.onClose('database', () => database.close());
  await ensurePartitions(database.pool, runtime.clock, logger);
  await firstStart(runtime, terminal);

  const waiting = new WaitingPolls();
  const notifications = new Notifications(databaseUrl, logger);
  notifications.on(queueChannel, (payload) => {
    if (payload === '') waiting.wakeEverybody();
    else waiting.wake(payload.split(',') as NumberId[]);
  });
  const mailLoop =
    config.mail && config.roles.has('deliver')
      ? new MailLoop(runtime, createSmtpSender(config.mail))
      : undefined;
  if (mailLoop) notifications.on(mailChannel, () => mailLoop.notify());
  await notifications.start();
  lifecycle.onClose('notifications', () => notifications.stop());

  const uses = new KeyUses(runtime);
  const loops = [...createLoops({ ...runtime, waiting, uses }), ...(mailLoop ? [mailLoop] : [])];
  for (const loop of loops) loop.start();
  lifecycle.onClose('loops', async () => void (await Promise.all(loops.map((loop) => loop.stop()))));

  const sends = createSendAcceptor(runtime);
  const rateLimits = new RateLimits(runtime);
  const isStopping = () => lifecycle.stopping;
  const identify = createIdentify(runtime);
  const links = new LinkRequests(runtime, createSendSignInLink(runtime));
  lifecycle.onClose('links to sign in', () => links.drain());
  const refusals = new RefusalLog(runtime);
  lifecycle.onClose('refusals', () => refusals.drain());
  const ownRoutes = [
    ...teamRoutes(runtime),
    ...memberRoutes({
      ...runtime,
      participants: whenMemberRemoved(runtime),
      roleMoved: whenRoleMoved(runtime),
    }),
    ...invitationRoutes(runtime),
    ...acceptRoutes(runtime, identify),
    ...invitePageRoutes(runtime, identify),
    ...numberRoutes({ ...runtime, participants: whenNumberRemoved(runtime) }),
    ...messageRoutes({ ...runtime, sends }),
    ...deviceRoutes({ ...runtime, waiting, arrivals: createArrivals(runtime) }),
    ...setupPageRoutes(runtime),
    ...apiKeyRoutes(runtime),
    ...usageRoutes(runtime),
    ...auditRoutes(runtime),
    ...signInRoutes({ ...runtime, links, refusals }),
    ...signInPageRoutes({ ...runtime, links, identify, refusals }),
    ...accountRoutes(runtime),
    ...passkeyRoutes(runtime),
    ...overviewRoutes({ ...runtime, identify }),
  ];
  watchQueue(runtime, waiting);
  const routes = [
    ...operationsRoutes(runtime, isStopping),
    ...(config.roles.has('api')
      ? [...ownRoutes, ...forMembers(ownRoutes), ...apiReferenceRoutes(config, ownRoutes)]
      : []),
  ];
  const record = createRecorder(runtime.metrics, logger);
  const visitorDoor = createVisitorDoor(runtime);
  const server = createHttpServer({
    routes,
    doors: {
      api: createApiDoor({
        authenticate: createAuthenticate({ ...runtime, uses }),
        limit: async (teamId, plan) => (config.rateLimits ? rateLimits.take(teamId, plan) : {}),
      }),
      team: createTeamDoor(identify, runtime),
      account: createAccountDoor(identify, runtime),
      visitor: visitorDoor,
      page: createPageDoor(visitorDoor),
    },
    record: (answered) => {
      record(answered);
      refusals.note(answered);
    },
    isStopping,
    ids: runtime.ids,
    logger,
    trustProxy: config.trustProxy,
    browserHeaders: securityHeaders(config.appUrl),
    checkAnswers: checkAnswers ?? false,
  });
  lifecycle.onClose('http', () => closeServer(server, waiting));
  warnOfLinks(config, logger);
  const address = await server.listen({ host: config.host, port: config.port });
  return { lifecycle, address, routes };
}

/** Links that begin with an address that stands for all of them lead nowhere. */
function warnOfLinks({ baseUrl, appUrl }: Config, logger: Logger): void {
  const unreachable = [...new Set([baseUrl, appUrl])].filter((url) =>
    /^https?:\/\/(0\.0\.0\.0|\[::\])[:/]?/.test(url),
  );
  for (const url of unreachable) {
    logger.warn(
      `Links begin with ${url}, which no phone and no browser can open: set BASE_URL to an address of this machine, such as http://192.168.1.20:3000.`,
    );
  }
}

/**
 * Held polls are answered at once; every other request is finished, and no new connection is taken. A kept connection
 * whose last answer left before we stopped would be waited for until its time-out: it is closed as soon as it is idle.
 */
async function closeServer(server: FastifyInstance, waiting: WaitingPolls): Promise<void> {
  waiting.stop();
  const closing = setInterval(() => server.server.closeIdleConnections(), 50);
  await server.close();
  clearInterval(closing);
}
