import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { ErrorCode } from '#contract/errors.ts';
import type { AppError } from '#server/platform/app-error.ts';
import type { Ids } from '#server/platform/ids.ts';
import { clientNetwork } from '#server/platform/network/ip-address.ts';
import { createProxyWarning, createTrustProxy } from '#server/platform/network/trusted-proxies.ts';
import { ClientErrorResponder, framingError } from './client-error.ts';
import { OpenSockets, WaitGroup } from './close-server.ts';
import { bodyMaxBytes, pathMaxCharacters } from './limits.ts';
import { ExtraListeners } from './listen.ts';
import { isPathTooLong, PathIndex, unroutedPath } from './path-index.ts';
import { PipelineQueue } from './pipelining.ts';
import { auditActorOf, type RouteOptions, registerRoute } from './register-route.ts';
import type { CompletedRequest } from './request-log.ts';
import type { Audience, Caller, Route } from './route.ts';
import { sendError } from './send-error.ts';
import { SlowReaders } from './slow-readers.ts';
import { DelayedClose, hasLargeRest } from './unread-body.ts';
import { parseQueryString } from './validate.ts';

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
    streamsBody?: boolean;
  }
}

export interface HttpServerOptions extends RouteOptions {
  readonly routes: readonly Route[];
  /** Counts requests that no route serves, and throws 429; by default such requests have no limit. */
  readonly limitNotFound?: (request: FastifyRequest) => Promise<void>;
  /** The error of each request that no route serves, in place of 404 and 405. */
  readonly unrouted?: AppError | undefined;
  /** Called after each answer was sent, for metrics, logs and the audit of refusals. */
  readonly record: (answered: CompletedRequest) => void;
  readonly isStopping: () => boolean;
  readonly ids: Ids;
  readonly trustProxy: readonly string[];
}

/**
 * Creates the HTTP server that serves the route table. Fastify's coercion, field removal, error bodies and serialiser
 * are off, because each breaks the contract silently. A number becomes a string, unknown fields vanish, and a null in
 * an answer becomes `""`. Ajv without coercion would be no gain: its errors would be rewritten all the same. A
 * second dialect of schemas would stand beside the contract, too.
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
    // Ends connections whose request never becomes complete. Longer than a long poll, which takes up to 50 s.
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
  const warnOfProxy = createProxyWarning(options.logger, options.trustProxy);
  const pipeline = new PipelineQueue();
  // The hooks are synchronous, because a promise from each would cost every request a tick of the event loop.
  server.addHook('onRequest', (request, reply, done) => {
    warnOfProxy(request);
    if (options.isStopping()) reply.header('connection', 'close');
    if (readsNoBody(request) && hasLargeRest(request.raw)) server.delayedClose.apply(request, reply);
    // The invalid address `*` is refused here, because the router would treat it as the start page.
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
    if (!options.unrouted) await options.limitNotFound?.(request);
    sendError(options, options.unrouted ?? paths.refusal(request), request, reply);
    return reply;
  };
  server.setNotFoundHandler(answerNotFound);
  const inFlight = new WaitGroup();
  server.decorate('inFlight', inFlight);
  const [streaming = [], buffered = []] = [true, false].map((streams) =>
    options.routes.filter(({ admission }) => (admission?.streamsBody ?? false) === streams),
  );
  for (const route of buffered) registerRoute(server, options, route);
  server.register(async (own) => {
    own.removeAllContentTypeParsers();
    own.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const route of streaming) registerRoute(own, options, route);
  });
  for (const { method, path } of paths.shadowed()) {
    server.route({ method, url: path, handler: answerNotFound });
  }
  // Waits for requests: server.close() waits for connections only, and work may go on after its client has
  // disconnected.
  server.addHook('onClose', () => inFlight.drain());
  return server;
}

function readsNoBody({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}
