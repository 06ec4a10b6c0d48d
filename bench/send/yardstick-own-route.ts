import { createRequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import { createLastUsedTimes } from '#server/api-keys/api-key-authenticator.ts';
import { createAuthenticators } from '#server/app/authenticators.ts';
import { openRuntime } from '#server/app/open-runtime.ts';
import { createHttpServer } from '#server/http/http-server.ts';
import { createRequestLog } from '#server/http/request-log.ts';
import { securityHeaders } from '#server/http/send-error.ts';
import { messageRoutes } from '#server/messages/routes.ts';
import { readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';

/**
 * The yardstick of benchmark P1: our own route and authenticator with an acceptor that stores nothing. The
 * difference to a real send is the cost of storing it.
 * usage: DATABASE_URL=… SECRETS_KEY=… node bench/send/yardstick-own-route.ts PORT
 */
const [port = '0'] = process.argv.slice(2);
const config = readConfig(process.env);
const logger = createLogger(config.logLevel);
const runtime = await openRuntime(config, config.databaseUrl ?? '', logger);
const accept = async () => ({
  verdict: 'accepted' as const,
  createdAt: runtime.clock.now(),
  messageId: runtime.ids.next('msg'),
  monthlyLimit: 0,
  used: 0,
});
const server = createHttpServer({
  routes: messageRoutes({ ...runtime, sends: { accept } }),
  authenticators: createAuthenticators({
    ...runtime,
    uses: createLastUsedTimes(runtime),
    requireSession: createRequireSession(runtime),
  }).byAudience,
  record: createRequestLog(runtime.metrics, logger),
  isStopping: () => false,
  ids: runtime.ids,
  clock: runtime.clock,
  logger,
  trustProxy: config.trustProxy,
  browserHeaders: securityHeaders(config.appUrl),
  startPath: '/',
});
await server.listen({ host: '127.0.0.1', port: Number(port) });
