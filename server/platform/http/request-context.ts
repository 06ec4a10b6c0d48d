import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor, AuditActor } from '#server/platform/actor.ts';
import type { Caller, HandlerContext, LimitConcurrency } from './route.ts';

export type Reauthenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<Caller>;

/**
 * The parts of a request that its handler gets, with its caller. It is a class, because an object with getters of its own
 * costs each request microseconds.
 */
export class RequestContext implements HandlerContext {
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
    query: unknown,
    body: unknown,
    ids: HandlerContext['ids'],
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
