import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { Compile, type Validator } from 'typebox/compile';
import { strictObject } from '#contract/schema.ts';
import type { Actor, AuditActor } from '#server/platform/actor.ts';
import type { WaitGroup } from './close-server.ts';
import { readJsonBody } from './read-json-body.ts';
import {
  type Audience,
  type Authenticator,
  type Caller,
  type HandlerContext,
  type LimitConcurrency,
  parsePathIds,
  type Route,
} from './route.ts';
import { deviceErrorHandler, type ErrorOptions, setResponseHeaders } from './send-error.ts';
import { compileBodyValidator, compileQueryValidator } from './validate.ts';

export interface RouteOptions extends ErrorOptions {
  /** Authenticators by audience. Routes of an audience without one are open to all callers. */
  readonly authenticators: Readonly<Partial<Record<Audience, Authenticator>>>;
  /** Wraps the work of each request, except for routes with their own limit; by default work is not limited. */
  readonly limitConcurrency?: LimitConcurrency;
  /** Tests validate every answer against its schema, before JSON could hide a wrong type. */
  readonly validateResponses?: boolean;
}

/** The audiences with JSON bodies. Their validation errors name the invalid field. */
export const jsonAudiences: readonly Audience[] = ['api', 'team', 'account', 'visitor'];

/**
 * Registers a route. Its hook authenticates the caller before the body is read. Then its handler validates query and
 * body, runs the route's own handler with a permit, and sends the answer. Hook and handler count as work in flight,
 * which a stopping server waits for. Errors of both go to the error handler.
 */
export function registerRoute(server: FastifyInstance, options: RouteOptions, route: Route): void {
  server.route({
    method: route.method,
    url: route.path,
    exposeHeadRoute: route.method === 'GET',
    config: {
      audience: route.audience,
      audit: route.audit,
      streamsBody: route.admission?.streamsBody ?? false,
    },
    ...(route.admission?.bodyMaxBytes === undefined ? {} : { bodyLimit: route.admission.bodyMaxBytes }),
    onRequest: createAuthenticateHook(options, route, server.inFlight),
    ...(route.audience === 'device' ? { errorHandler: deviceErrorHandler(options, route) } : {}),
    handler: createHandler(options, route, server.inFlight),
  });
}

function createAuthenticateHook(options: RouteOptions, route: Route, inFlight: WaitGroup) {
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

function createHandler(options: RouteOptions, route: Route, inFlight: WaitGroup) {
  // Validators are compiled at the first request, so that a start does not compile those of all routes.
  let createContext: ReturnType<typeof createContextFactory> | undefined;
  const validateResponse = options.validateResponses ? compileResponseValidators(route) : undefined;
  const limit = options.limitConcurrency ?? withoutLimit;
  const needsPermit = route.admission?.permit === undefined;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    inFlight.begin();
    try {
      createContext ??= createContextFactory(options, route);
      const context = createContext(request, reply);
      const answer = await (needsPermit
        ? limit(request.caller, () => route.handle(context))
        : route.handle(context));
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
  };
}

/** Creates a function that makes the context of a request: query and body validated for JSON audiences, then ids. */
function createContextFactory(options: RouteOptions, route: Route) {
  const validateBody = compileBodyValidator(route.body ?? strictObject({}));
  const validateQuery = compileQueryValidator(route.query ?? strictObject({}));
  const isJson = jsonAudiences.includes(route.audience);
  const hasJsonBody = isJson && !route.admission?.streamsBody;
  const authenticator = options.authenticators[route.audience];
  const takesParts = route.admission?.permit === 'held' || route.admission?.permit === 'in parts';
  const limit = (takesParts && options.limitConcurrency) || withoutLimit;
  const reauthenticate: Reauthenticate = async (request, reply) => {
    const caller = (await authenticator?.(request, reply, route, true)) ?? {};
    if (caller.refusal) throw caller.refusal;
    return caller;
  };
  return (request: FastifyRequest, reply: FastifyReply): RequestContext => {
    const query = isJson ? validateQuery(request.query, request.url) : request.query;
    const body = hasJsonBody ? readJsonBody(request) : request.body;
    if (hasJsonBody) validateBody(body);
    const ids = route.ids ? parsePathIds(route.ids, request.params as Record<string, string>) : {};
    return new RequestContext(request, reply, { query, body, ids }, reauthenticate, limit);
  };
}

const withoutLimit: LimitConcurrency = (_caller, work) => work();

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

type Reauthenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<Caller>;

/**
 * A request as its handler gets it: the validated parts, and the caller. It is a class, because an object with getters
 * of its own costs each request microseconds.
 */
class RequestContext implements HandlerContext {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly query: unknown;
  readonly body: unknown;
  readonly ids: HandlerContext['ids'];
  readonly #reauthenticate: Reauthenticate;
  readonly #limitConcurrency: LimitConcurrency;

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    { query, body, ids }: Pick<HandlerContext, 'query' | 'body' | 'ids'>,
    reauthenticate: Reauthenticate,
    limitConcurrency: LimitConcurrency,
  ) {
    this.request = request;
    this.reply = reply;
    this.query = query;
    this.body = body;
    this.ids = ids;
    this.#reauthenticate = reauthenticate;
    this.#limitConcurrency = limitConcurrency;
  }

  get withPermit(): HandlerContext['withPermit'] {
    return (work) => this.#limitConcurrency(this.request.caller, work);
  }

  get reauthenticate() {
    return () => this.#reauthenticate(this.request, this.reply);
  }

  get params() {
    return this.request.params as Readonly<Record<string, string>>;
  }

  get principal() {
    return this.request.caller?.principal ?? missing();
  }

  get signedIn() {
    return this.request.caller?.signedIn ?? missing();
  }

  get device() {
    return this.request.caller?.device ?? missing();
  }

  get by() {
    return auditActorOf(this.request) ?? missing();
  }
}

/** Throws if a handler reads a kind of caller that its route's audience does not have, which is a bug. */
function missing(): never {
  throw new Error('the audience of this route does not allow this kind of caller');
}

export function auditActorOf(request: FastifyRequest): AuditActor | undefined {
  const actor: Actor | undefined = request.caller?.principal?.actor ?? request.caller?.signedIn?.actor;
  return actor && { ...actor, ip: request.ip, requestId: request.id };
}
