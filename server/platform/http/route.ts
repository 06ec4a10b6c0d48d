import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Permission, PersonalPermission, RoleGrant } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import type { Actor, AuditActor } from '#server/platform/actor.ts';
import type { AppError } from '#server/platform/app-error.ts';
import type { MaybePromise } from '#server/platform/concurrency/maybe-promise.ts';
import type { AccountId, AccountSessionId, KeyId, MemberId, TeamId } from '#server/platform/ids/ids.ts';

/**
 * The callers that a route is for. `api` is public and needs a key, `device` is public and frozen (shortcuts can't be
 * updated), `page` is for browsers, `operations` is for monitoring. The dashboard has three of its own, which are
 * neither public nor frozen. `team` needs the session of a member of the team in the path, `account` that of any
 * account, and `visitor` none.
 */
export type Audience = 'api' | 'team' | 'account' | 'visitor' | 'device' | 'page' | 'operations';

/** Principal: acts for a team, with permissions. A key, or a member with a session and a role. */
export interface Principal {
  readonly teamId: TeamId;
  /** The key or the member, as the database stores it. */
  readonly id: KeyId | MemberId;
  readonly actor: Actor;
  readonly permissions: readonly RoleGrant[];
  readonly plan: PlanName;
  /** The member who created the calling key, if a member did. */
  readonly keyCreator?: MemberId;
}

/** A signed-in account, with its session. */
export interface SignedIn {
  readonly accountId: AccountId;
  readonly sessionId: AccountSessionId;
  readonly actor: Actor;
}

/** The phone that calls. */
export interface DeviceCaller {
  readonly teamId: TeamId;
  /** SHA-256 of the device token, which is in the database. */
  readonly tokenHash: Buffer;
  /** Polls have a queue of their own for permits. */
  readonly isPoll: boolean;
  /** A poll beyond the limit of its token: its report counts, and it gets no message. */
  readonly isOverLimit: boolean;
  /**
   * Reports to the authenticator that the token has ended for good; later calls are refused before their body is read.
   */
  readonly endToken: (reason: EndedTokenReason) => void;
}

/** Why a device token accepts no more inbound messages: its number was deleted, or a later setup link replaced it. */
export type EndedTokenReason = 'deleted' | 'superseded';

/** The caller of a request, as far as its authenticator identified it. */
export interface Caller {
  readonly principal?: Principal;
  readonly signedIn?: SignedIn;
  /** Set for the audience `device`. */
  readonly device?: DeviceCaller;
  /** The refusal of a known caller, returned and not thrown: the audit log can name the caller. */
  readonly refusal?: AppError;
}

/**
 * Establishes the caller of an audience's routes before a body is read. Throws 401 or 429, and refuses with 403, in
 * that order (specification section 7.2). Headers that it sets are on refusals too.
 * @param isAgain true for a repeat by `HandlerContext.reauthenticate`, which is not counted a second time
 */
export type Authenticator = (
  request: FastifyRequest,
  reply: FastifyReply,
  route: AuthenticatedRoute,
  isAgain?: boolean,
) => MaybePromise<Caller>;

/** The part of a route that an authenticator needs. */
export type AuthenticatedRoute = Pick<
  Route,
  'method' | 'path' | 'permission' | 'byToken' | 'held' | 'tokenPerMinute' | 'refusesEndedToken'
>;

export interface HandlerContext<Body = unknown, Query = unknown> {
  /** Set for the audiences `api` and `team`. */
  readonly principal: Principal;
  /** Set for the audiences `team` and `account`. */
  readonly signedIn: SignedIn;
  /** Set for the audience `device`. */
  readonly device: DeviceCaller;
  /** The actor for the audit log; set for every audience with a caller. */
  readonly by: AuditActor;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /**
   * For held requests: authenticates again, and throws if the caller has lost access. A revoked key stops working
   * within a second (specification section 5.1), also for requests that began before.
   * @returns the caller as they are now: the role may be another one
   */
  readonly reauthenticate: () => Promise<Caller>;
  /** Runs a part of the work of a held route with a permit of its caller; every other route has one from the start. */
  readonly withPermit: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Runs the work of a request once its caller has a permit for it (specification section 8).
 * @throws AppError 503 with retry-after
 */
export type LimitConcurrency = <T>(caller: Caller | undefined, work: () => Promise<T>) => Promise<T>;

export interface Answer {
  readonly status?: number;
  readonly body: unknown;
  /** A list for several values of one name, such as set-cookie. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** The text of an operation of /v1 in the reference, beside its schemas. */
export interface OperationText {
  /** A verb and a noun, unique: `sendMessage`. */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Statuses of its errors, beside those of every operation. */
  readonly errorStatuses: readonly number[];
  /** Its own request headers. */
  readonly headers?: readonly HeaderText[];
}

export interface HeaderText {
  readonly name: string;
  readonly description: string;
  readonly schema: TSchema;
}

/** A route is data: the server, the documentation and the tests read the same object. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly audience: Audience;
  /** For the audiences `api` and `team`; undefined requires only a valid key, or a membership. */
  readonly permission?: Permission | PersonalPermission;
  /** The permission that a member needs where a key needs more: to see is not to manage (decision 0014). */
  readonly memberPermission?: PersonalPermission;
  /** The answer of the same operation below /app/teams/:team_id, where people see more of each row than programs do. */
  readonly ofMembers?: Pick<Route, 'answers' | 'handle'>;
  /**
   * For the audience `page`: the token in the path authorizes the request, and no cookie does. A forged request could
   * not know it, so the CSRF guard is skipped. For `device`: the token in the body.
   */
  readonly byToken?: true;
  /**
   * The operation's name in the audit log, where it changes something; refusals are recorded under it (section 12.6).
   */
  readonly audit?: string;
  /** Set for every operation of the audience `api`. */
  readonly text?: OperationText;
  readonly body?: TSchema;
  /**
   * The fields of a form or of a device's body, which the handler reads itself. It documents
   * them; nothing validates them.
   */
  readonly looseBody?: TObject;
  /** Without one the route accepts no query parameter. Numbers and booleans are parsed from their text. */
  readonly query?: TObject;
  /** Success answers by status; tests validate every answer against them before it is serialised. */
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly handle: (call: HandlerContext) => Promise<Answer>;
  /** A long poll: the answer may be held until there is something to send, and holds no permit meanwhile. */
  readonly held?: true;
  /** Its work waits in a bounded queue of its own, and takes no permit. */
  readonly ownQueue?: true;
  /** Bytes; only for routes that need more than the usual limit. */
  readonly bodyLimitBytes?: number;
  /** For `device`: calls of one token per minute in this process, counted before the body is read. */
  readonly tokenPerMinute?: number;
  /** For `device`: a token that has ended is refused before the body is read. */
  readonly refusesEndedToken?: true;
  /** For `device`: a failure destroys the connection without an answer, since a shortcut would use its words. */
  readonly hangsUp?: true;
  /** For `device`: the answer to a failure, with HTTP 200, since a shortcut can't see a status. */
  readonly onFailure?: (error: AppError) => unknown;
}

/** Declares a route whose handler gets a body or a query of the type that its schema describes. */
export function route<B extends TSchema>(
  definition: Omit<Route, 'body' | 'handle'> & {
    readonly body: B;
    readonly handle: (call: HandlerContext<Static<B>>) => Promise<Answer>;
  },
): Route;
export function route<Q extends TObject>(
  definition: Omit<Route, 'query' | 'handle' | 'ofMembers'> & {
    readonly query: Q;
    readonly handle: (call: HandlerContext<unknown, Static<Q>>) => Promise<Answer>;
    readonly ofMembers?: Pick<Route, 'answers'> & {
      readonly handle: (call: HandlerContext<unknown, Static<Q>>) => Promise<Answer>;
    };
  },
): Route;
export function route(definition: Route): Route;
export function route(definition: Route): Route {
  return definition;
}
