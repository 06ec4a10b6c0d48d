import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type HookHandlerDoneFunction,
} from 'fastify';
import { Compile, type Validator } from 'typebox/compile';
import type { ErrorCode } from '#contract/errors.ts';
import { strictObject } from '#contract/schema.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import type { AppError } from '#server/platform/app-error.ts';
import { WaitGroup } from '#server/platform/concurrency/wait-group.ts';
import type { AccountId, Ids, TeamId } from '#server/platform/ids/ids.ts';
import { clientNetwork } from '#server/platform/network/client-network.ts';
import { createTrustProxy } from '#server/platform/network/trusted-proxies.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { isRequestAborted } from './client-disconnect.ts';
import { ClientErrorResponder } from './client-error.ts';
import { DelayedClose, hasLargeRest } from './delayed-close.ts';
import { drainBody } from './drain-body.ts';
import { errorPageHeaders, renderErrorPage } from './html-page.ts';
import { bodyMaxBytes, pathMaxCharacters } from './limits.ts';
import { ExtraListeners } from './listen.ts';
import { OpenSockets } from './open-sockets.ts';
import { parseQueryString } from './parse-query-string.ts';
import { audienceOf, isPathTooLong, PathIndex, unroutedPath, wantsHtml } from './path-index.ts';
import { PipelineQueue } from './pipelining.ts';
import { createProxyWarning } from './proxy-warning.ts';
import { readJsonBody } from './read-json-body.ts';
import { auditActorOf, type Reauthenticate, RequestContext } from './request-context.ts';
import { framingError } from './request-framing.ts';
import type { Audience, Authenticator, Caller, LimitConcurrency, Route } from './route.ts';
import { SlowReaders } from './slow-readers.ts';
import { toAppError } from './to-app-error.ts';
import { compileBodyValidator } from './validate-body.ts';
import { compileQueryValidator } from './validate-query.ts';

declare module 'fastify' {
  interface FastifyInstance {
    delayedClose: DelayedClose;
    extraListeners: ExtraListeners;
    /** Counts running authenticators and handlers. */
    inFlight: WaitGroup;
    openSockets: OpenSockets;
  }
  interface FastifyRequest {
    caller: Caller | undefined;
    errorCode: ErrorCode | undefined;
  }
  interface FastifyContextConfig {
    audience?: Audience;
    audit?: string | undefined;
  }
}

export interface HttpServerOptions {
  readonly routes: readonly Route[];
  /** Authenticators by audience. Routes of an audience without one are open to all callers. */
  readonly authenticators: Readonly<Partial<Record<Audience, Authenticator>>>;
  /** Counts requests that no route serves, and throws 429; by default they have no limit. */
  readonly limitNotFound?: (request: FastifyRequest) => Promise<void>;
  /** Wraps the work of each request, except for routes with their own limit; by default work is not limited. */
  readonly limitConcurrency?: LimitConcurrency;
  /** Called after each answer was sent, for metrics, logs and the audit of refusals. */
  readonly record: (answered: CompletedRequest) => void;
  readonly isStopping: () => boolean;
  /** Maps a thrown error to an error that names the reason, such as a full disk. */
  readonly explain?: (error: unknown) => unknown;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly trustProxy: readonly string[];
  /** Headers of every answer, except for audiences without browsers. */
  readonly browserHeaders: Readonly<Record<string, string>>;
  /** The path of the start page, which the error page links to; it begins with the path of APP_URL. */
  readonly startPath: string;
  /** Tests validate every answer against its schema, before JSON could hide a wrong type. */
  readonly validateResponses?: boolean;
}

/** Data about an answered request. */
export interface CompletedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The pattern of the route, without ids; undefined where no route matched. */
  readonly route: string | undefined;
  readonly audience: Audience | undefined;
  readonly status: number;
  readonly durationMs: number;
  /** The error code of a refused request. */
  readonly errorCode: ErrorCode | undefined;
  readonly teamId: TeamId | undefined;
  /** The actor of a refused request, if the caller is known. */
  readonly by: AuditActor | undefined;
  /** The client network of a refused request. */
  readonly network: string | undefined;
  /** The signed-in account, if there is one. */
  readonly accountId: AccountId | undefined;
  /** The operation's name in the audit log; undefined for an operation that changes nothing. */
  readonly audit: string | undefined;
  /** The id in the path as the client wrote it; '' without one. */
  readonly target: string;
}

/** The audiences with JSON bodies, whose errors explain the mistake. */
export const jsonAudiences: readonly Audience[] = ['api', 'team', 'account', 'visitor'];

/** Audiences of programs and phones, which ignore headers for browsers. */
const machineAudiences: readonly (Audience | undefined)[] = ['api', 'device', 'operations'];

/**
 * Creates the server of the route table. Fastify's coercion, field removal, error bodies and serialiser are off,
 * because each of them breaks the contract silently (decision 0009).
 */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const clientErrors = new ClientErrorResponder(() => options.ids.nextPublic('req'));
  const server = fastify({
    logger: false,
    trustProxy: options.trustProxy.length > 0 ? createTrustProxy(options.trustProxy) : false,
    genReqId: () => options.ids.nextPublic('req'),
    bodyLimit: bodyMaxBytes,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // Longer than a long poll, which takes up to 50 s: ends clients that never complete their request.
    requestTimeout: 70_000,
    keepAliveTimeout: 75_000,
    rewriteUrl: ({ url = '/' }) => (isPathTooLong(url) ? unroutedPath(url) : url),
    routerOptions: { maxParamLength: pathMaxCharacters, querystringParser: parseQueryString },
    onProtoPoisoning: 'ignore',
    // Node would refuse a request without Host with an empty body. This server answers with the error envelope.
    http: { requireHostHeader: false },
    frameworkErrors: (error, request, reply) => sendError(options, error, request, reply),
    clientErrorHandler: clientErrors.onClientError,
  });
  clientErrors.listenTo(server.server);
  server.decorate('delayedClose', new DelayedClose(options.clock));
  server.decorate('extraListeners', new ExtraListeners());
  const openSockets = new OpenSockets();
  openSockets.watch(server.server);
  server.decorate('openSockets', openSockets);
  const slowReaders = new SlowReaders({ ...options, openSockets });
  slowReaders.watch(server.server);
  server.addHook('onClose', async () => slowReaders.stop());

  server.removeAllContentTypeParsers();
  // JSON is listed by name, because with '*' alone Fastify would search for the parser in every request.
  server.addContentTypeParser(['application/json', '*'], { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  server.setSerializerCompiler(() => JSON.stringify);
  server.decorateRequest('caller', undefined);
  server.decorateRequest('errorCode', undefined);

  const paths = new PathIndex(options.routes);
  const warnOfProxy = createProxyWarning(options);
  const pipeline = new PipelineQueue();
  // The hooks are synchronous, because a promise from each would cost every request a tick of the event loop.
  server.addHook('onRequest', (request, reply, done) => {
    warnOfProxy(request);
    if (options.isStopping()) reply.header('connection', 'close');
    if (readsNoBody(request) && hasLargeRest(request.raw)) server.delayedClose.apply(request, reply);
    // The invalid address `*` is refused here, because the router would take it for the start page.
    const refusal = request.url === '*' ? paths.refusal(request) : framingError(request.raw);
    pipeline.enqueue(request.raw, reply.raw, () => (refusal ? done(refusal) : done()));
  });
  server.addHook('onResponse', (request, reply, done) => {
    const { url, config } = request.routeOptions;
    options.record({
      requestId: request.id,
      method: request.method,
      route: url,
      audience: config.audience,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      errorCode: request.errorCode,
      teamId: request.caller?.principal?.teamId,
      by: request.errorCode && auditActorOf(request),
      network: request.errorCode && clientNetwork(request.ip),
      accountId: request.caller?.signedIn?.accountId,
      audit: config.audit,
      target: (request.params as { readonly id?: string } | undefined)?.id ?? '',
    });
    done();
  });
  server.setErrorHandler((error, request, reply) => sendError(options, error, request, reply));
  const answerNotFound = async (request: FastifyRequest, reply: FastifyReply) => {
    await options.limitNotFound?.(request);
    sendError(options, paths.refusal(request), request, reply);
    return reply;
  };
  server.setNotFoundHandler(answerNotFound);
  const inFlight = new WaitGroup();
  server.decorate('inFlight', inFlight);
  for (const route of options.routes) register(server, options, route, inFlight);
  for (const { method, path } of paths.shadowed()) {
    server.route({ method, url: path, handler: answerNotFound });
  }
  // Waits for requests: server.close() waits for connections only, and a client may be gone while its work runs.
  server.addHook('onClose', () => inFlight.drain());
  return server;
}

function register(
  server: FastifyInstance,
  options: HttpServerOptions,
  route: Route,
  inFlight: WaitGroup,
): void {
  const validateBody = compileBodyValidator(route.body ?? strictObject({}));
  const validateQuery = compileQueryValidator(route.query ?? strictObject({}));
  const validateResponse = options.validateResponses ? compileResponseValidators(route) : undefined;
  const authenticator = options.authenticators[route.audience];
  const limit = options.limitConcurrency ?? withoutLimit;
  const isJson = jsonAudiences.includes(route.audience);
  const reauthenticate: Reauthenticate = async (request, reply) => {
    const again = (await authenticator?.(request, reply, route, true)) ?? {};
    if (again.refusal) throw again.refusal;
    return again;
  };
  server.route({
    method: route.method,
    url: route.path,
    exposeHeadRoute: route.method === 'GET',
    config: { audience: route.audience, audit: route.audit },
    ...(route.bodyLimitBytes === undefined ? {} : { bodyLimit: route.bodyLimitBytes }),
    onRequest: authenticateHook(options, route, inFlight),
    ...(route.audience === 'device' ? { errorHandler: deviceErrorHandler(options, route) } : {}),
    handler: async (request, reply) => {
      inFlight.begin();
      try {
        const query = isJson ? validateQuery(request.query, request.url) : request.query;
        const body = isJson ? readJsonBody(request) : request.body;
        if (isJson) validateBody(body);
        const context = new RequestContext(
          request,
          reply,
          query,
          body,
          reauthenticate,
          route.held ? limit : withoutLimit,
        );
        const answer = await (route.held || route.ownQueue
          ? route.handle(context)
          : limit(request.caller, () => route.handle(context)));
        // The handler took over the connection, for example to stream, so nothing is left to send.
        if (reply.sent) return;
        const status = answer.status ?? 200;
        validateResponse?.(status, answer.body);
        if (answer.headers) reply.headers({ ...answer.headers });
        // The reply is not returned, because Fastify would await it like a promise.
        reply.code(status).send(answer.body);
      } finally {
        inFlight.end();
      }
    },
  });
}

const withoutLimit: LimitConcurrency = (_caller, work) => work();

/** Creates the onRequest hook that runs the authenticator of the route's audience, if there is one. */
function authenticateHook(options: HttpServerOptions, route: Route, inFlight: WaitGroup) {
  const authenticator = options.authenticators[route.audience];
  const authenticate = async (request: FastifyRequest, reply: FastifyReply) => {
    request.caller = (await authenticator?.(request, reply, route)) ?? {};
    return request.caller.refusal;
  };
  // Fastify treats done(undefined) as success, so an Error is always passed.
  const errorOf = (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason)));
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    setResponseHeaders(options, route.audience, request, reply);
    inFlight.begin();
    authenticate(request, reply)
      .then(done, (reason) => done(errorOf(reason)))
      .finally(() => inFlight.end());
  };
}

function compileResponseValidators(route: Route): (status: number, body: unknown) => void {
  const checks = new Map<number, Validator>();
  return (status, body) => {
    const schema = route.answers[status];
    if (!schema) throw new Error(`${route.method} ${route.path} declares no response with status ${status}`);
    // A schema is compiled at its first use, because a test calls few of the routes.
    const check = checks.get(status) ?? Compile(schema);
    checks.set(status, check);
    if (check.Check(body)) return;
    const problem = JSON.stringify(check.Errors(body)[0]);
    throw new Error(
      `${route.method} ${route.path} sent a response that its schema does not allow: ${problem}`,
    );
  };
}

function sendError(
  options: HttpServerOptions,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const appError = toAppError(options.explain?.(error) ?? error, request.routeOptions.bodyLimit);
  request.errorCode = appError.code;
  // An internal_error without a cause is a refusal over capacity, not a fault; so is a body that its client aborted.
  if (appError.code === 'internal_error' && appError.cause !== undefined && !isRequestAborted(request)) {
    options.logger.error({ err: appError.cause, requestId: request.id }, 'a request failed');
  }
  if (audienceOf(request) !== 'device') settleRest(appError, request, reply);
  setResponseHeaders(options, audienceOf(request), request, reply);
  reply.code(appError.status).headers({ ...appError.headers });
  // A browser that opens a page gets an HTML page; all other clients get JSON.
  if (wantsHtml(request)) {
    // The page reloads itself only after 429. After 503, all pages of an overloaded server would reload at once.
    const isRepeatable = request.method === 'GET' && appError.status === 429;
    const waitSeconds = isRepeatable ? appError.headers['retry-after'] : undefined;
    if (waitSeconds !== undefined) reply.header('refresh', waitSeconds);
    reply
      .headers(errorPageHeaders(options.startPath))
      .send(renderErrorPage(appError.message, options.startPath, waitSeconds !== undefined));
  } else reply.type('application/json').send(appError.envelope());
}

/**
 * Decides about the unread rest of a refused request's body (specification section 7.1). If the body is too large and
 * the caller has a credential, Node reads and discards the rest, so that the caller gets the answer. After other
 * refusals a large rest is not read.
 */
function settleRest({ status }: AppError, request: FastifyRequest, reply: FastifyReply): void {
  const { principal, signedIn } = request.caller ?? {};
  const isKnown = principal !== undefined || signedIn !== undefined;
  if (!(status === 413 && isKnown) && hasLargeRest(request.raw))
    request.server.delayedClose.apply(request, reply);
  // Fastify would close the connection at once, while the client writes; that reset would lose the answer.
  else if (status === 413) keepConnectionOpen(reply);
}

function keepConnectionOpen(reply: FastifyReply): void {
  reply.removeHeader('connection');
}

function readsNoBody({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Sets the headers of every answer. Errors set the headers, too: Fastify raises some errors before the route. */
function setResponseHeaders(
  { browserHeaders }: HttpServerOptions,
  audience: Audience | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (!machineAudiences.includes(audience)) reply.headers(browserHeaders);
  reply.header('request-id', request.id).header('cache-control', 'no-store');
}

/**
 * Answers a failed device call: with the route's own answer and HTTP 200, or with the error envelope. Up to 64 KB of
 * the body are read first, because a reset connection would end the shortcut. If the device is known and within its
 * limits, the whole body is read.
 */
function deviceErrorHandler(options: HttpServerOptions, { onFailure, hangsUp }: Route) {
  return async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const appError = toAppError(error, request.routeOptions.bodyLimit);
    if (hangsUp) {
      if (appError.code === 'internal_error')
        options.logger.warn(
          { err: appError.cause ?? error, requestId: request.id },
          'a request of a phone failed',
        );
      reply.hijack();
      reply.raw.destroy();
      return;
    }
    const { device, refusal } = request.caller ?? {};
    if (device && !refusal) {
      if (appError.status === 413) keepConnectionOpen(reply);
    } else if (!(await drainBody(request, options.clock))) request.server.delayedClose.apply(request, reply);
    if (!onFailure) return sendError(options, appError, request, reply);
    if (appError.code === 'internal_error' && !isRequestAborted(request))
      options.logger.warn(
        { err: appError.cause ?? error, requestId: request.id },
        'a request of a phone failed',
      );
    setResponseHeaders(options, 'device', request, reply);
    reply.code(200).send(onFailure(appError));
  };
}
