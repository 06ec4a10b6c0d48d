import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Permission, PersonalPermission, RoleGrant } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import { idNouns } from '#contract/schema.ts';
import type { Actor, AuditActor } from '#server/platform/actor.ts';
import { type AppError, notFound } from '#server/platform/app-error.ts';
import {
  type AccountId,
  type AccountSessionId,
  type DeviceId,
  type Id,
  type KeyId,
  type MemberId,
  type NumberId,
  parseId,
  type TeamId,
} from '#server/platform/ids.ts';
import type { Examples } from './example.ts';

/** The kinds of the ids in a path, by the names of their parameters: `{ id: 'num' }` for `/v1/numbers/:id`. */
export type PathIds = Readonly<Record<string, keyof typeof idNouns>>;

type ParsedIds<Ids extends PathIds> = { readonly [Name in keyof Ids]: Id<Ids[Name]> };

/** Parses the ids in a path. @throws AppError 404 for a text that is no id of its kind, as for an unknown id */
export function parsePathIds<Ids extends PathIds>(
  ids: Ids,
  params: Readonly<Record<string, string>>,
): ParsedIds<Ids> {
  const parsed = Object.entries(ids).map(([name, prefix]) => {
    const id = parseId(prefix, params[name] ?? '');
    if (id === undefined) throw notFound(idNouns[prefix]);
    return [name, id];
  });
  return Object.fromEntries(parsed) as ParsedIds<Ids>;
}

/**
 * The callers that a route is for. `api` is public and needs an API key. `device` is public and frozen, because
 * installed shortcuts can't be updated. `page` is for browsers, `operations` for monitoring. The dashboard's own routes
 * are neither public nor frozen. `team` needs the session of a member of the team in the path, `account` any session,
 * and `visitor` none.
 */
export type Audience = 'api' | 'team' | 'account' | 'visitor' | 'device' | 'page' | 'operations';

/** A principal acts for a team, with permissions: an API key, or a signed-in member with a role. */
export interface Principal {
  readonly teamId: TeamId;
  readonly id: KeyId | MemberId;
  readonly actor: Actor;
  readonly permissions: readonly RoleGrant[];
  readonly plan: PlanName;
  /** True for a test key, whose teamId is the test team. */
  readonly isTest?: boolean;
  /** True for a key whose sends answer conversations as a person’s reply does. */
  readonly answersForTeam?: boolean;
}

export interface SignedIn {
  readonly accountId: AccountId;
  readonly sessionId: AccountSessionId;
  readonly actor: Actor;
}

/** The phone that makes a device call. */
export interface DeviceCaller {
  readonly teamId: TeamId;
  readonly deviceId: DeviceId;
  readonly numberId: NumberId;
  /** The phone number that the device serves. It never changes. */
  readonly phoneNumber: string;
  /** SHA-256 of the device token, as stored in the database. */
  readonly tokenHash: Buffer;
  /** Whether the call is a poll: polls have their own queue for permits. */
  readonly isPoll: boolean;
  /** Whether a poll exceeds the rate limit of its token: its report is recorded, but it gets no message. */
  readonly isOverLimit: boolean;
  /**
   * Reports to the authenticator that the token has ended for good. The authenticator then refuses later calls before
   * their body is read.
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
  /**
   * An error for a known caller. The authenticator returns this error instead of throwing it, so that the audit log can
   * name the caller.
   */
  readonly refusal?: AppError;
}

/**
 * Authenticates the caller of a route before the body is read: throws 401 or 429, and then returns a 403 as
 * `Caller.refusal` (specification section 7.2). Response headers that it sets are also sent with errors.
 * @param isAgain true for a repeat by `HandlerContext.reauthenticate`, which rate limits do not count
 */
export type Authenticator = (
  request: FastifyRequest,
  reply: FastifyReply,
  route: AuthenticatedRoute,
  isAgain?: boolean,
) => Promise<Caller>;

export type AuthenticatedRoute = Pick<Route, 'method' | 'path' | 'permission' | 'admission'>;

export interface HandlerContext<Body = unknown, Query = unknown, Ids extends PathIds = PathIds> {
  /** Set for the audiences `api` and `team`. */
  readonly principal: Principal;
  /** Set for the audiences `team` and `account`. */
  readonly signedIn: SignedIn;
  /** Set for the audience `device`. */
  readonly device: DeviceCaller;
  /** The actor for the audit log; set for every audience with a caller. */
  readonly by: AuditActor;
  readonly params: Readonly<Record<string, string>>;
  /** The ids in the path that the route declares. */
  readonly ids: ParsedIds<Ids>;
  readonly query: Query;
  readonly body: Body;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /**
   * For long polls: authenticates again, and throws if the caller has lost access. A revoked key thus stops working
   * within a second even for requests that began before (specification section 5.1).
   * @returns the caller, whose role may have changed
   */
  readonly reauthenticate: () => Promise<Caller>;
  /**
   * For the permits `held` and `in parts`: runs a part of the work with a permit. Every other request has a permit from
   * its start.
   */
  readonly withPermit: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Runs a request's work once its caller has a permit (specification section 8). @throws 503 with retry-after */
export type LimitConcurrency = <T>(caller: Caller | undefined, work: () => Promise<T>) => Promise<T>;

export interface Answer {
  readonly status?: number;
  readonly body: unknown;
  /** Response headers; a list sends one header several times, such as set-cookie. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** Documents an operation of /v1 in the API reference, beside its schemas. */
export interface OperationText {
  /** A unique name for the operation, a verb and a noun, such as `sendMessage`. */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Request headers that only this operation has. */
  readonly headers?: readonly HeaderText[];
  /**
   * Each success of the operation at least once, and each refusal that does not follow from the route (`examplesOfRoute`).
   * The first success is the request that the reference offers. The reference lists the statuses of the refusals.
   */
  readonly examples: Examples;
}

export interface HeaderText {
  readonly name: string;
  readonly description: string;
  readonly schema: TSchema;
  readonly required?: boolean;
}

/** A request that the server sends to a receiver of its events. */
export interface OutgoingRequestText {
  /** The type of the event. The API document uses it as the name of the request. */
  readonly type: string;
  readonly summary: string;
  readonly description: string;
  readonly body: TSchema;
  readonly example: Readonly<Record<string, unknown>>;
}

/** Admission control of a route: its limits, and the checks before its handler runs. */
interface Admission {
  /**
   * A token in the path, or for `device` in the body, authorizes the request in place of the credential of the audience.
   * A forged request cannot know the token, so the CSRF guard is left out.
   */
  readonly ownToken?: true;
  /**
   * The permit of the team's concurrency limiter, instead of one for the whole request:
   * - `held`: for a long poll, whose answer may be held until there is something to send. Parts of its work have a
   * permit.
   * - `in parts`: the handler takes permits for parts of its work (`withPermit`).
   * - `own queue`: requests wait in a bounded queue of this route, without a permit.
   */
  readonly permit?: 'held' | 'in parts' | 'own queue';
  /** Maximum body size, for routes that need more than the default. */
  readonly bodyMaxBytes?: number;
  /** The handler reads the body itself (`readStreamedBody`): any type, as it arrives, up to `bodyMaxBytes`. */
  readonly streamsBody?: true;
  /** For `device`: calls of one token per minute in this process, counted before the body is read. */
  readonly tokenPerMinute?: number;
  /** For `device`: refuses an ended token before the body is read. */
  readonly refusesEndedToken?: true;
}

interface OfMembers<Handle, Body, Query> {
  readonly body?: Body;
  readonly query?: Query;
  readonly permission?: PersonalPermission;
  readonly answers?: Route['answers'];
  readonly handle?: Handle;
}

/** A route is data: the server, the documentation and the tests read the same object. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** The ids in the path. A text that is no id of its kind is 404, after the body was checked (section 7.2). */
  readonly ids?: PathIds;
  readonly audience: Audience;
  /** For `api` and `team`: the permission that a caller needs; undefined requires only a valid key or a membership. */
  readonly permission?: Permission | PersonalPermission;
  /**
   * Replaces parts of the route below /app/teams/:team_id. Members may need a lesser permission than keys, for example to
   * read but not to manage (decision 0014). Their requests and answers may have more fields, because people do more than
   * programs.
   */
  readonly ofMembers?: OfMembers<Route['handle'], TSchema, TObject>;
  readonly admission?: Admission;
  /** The operation's name in the audit log, if it changes something; refusals have this name too (section 12.6). */
  readonly audit?: string;
  /** Set for every operation of the audience `api`. */
  readonly text?: OperationText;
  readonly body?: TSchema;
  /** Documents the fields of a form or a device's body. The handler reads them itself; nothing validates them. */
  readonly looseBody?: TObject;
  /** Schema of the query; undefined accepts no parameter. Numbers and booleans are parsed from text. */
  readonly query?: TObject;
  /** Success answers by status; tests validate every answer against them before it is serialised. */
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly handle: (call: HandlerContext) => Promise<Answer>;
  /**
   * For `device`: creates the answer to a failure, with HTTP 200, because a shortcut can't see a status. `hang up`
   * destroys the connection without an answer, because the shortcut would use the text of an answer.
   */
  readonly failure?: 'hang up' | ((error: AppError) => unknown);
}

/** Declares a route; the handler's body, query and ids have the types that the route declares. */
export function route<
  B extends TSchema,
  Q extends TObject,
  I extends PathIds,
  MemberB extends TSchema = B,
  MemberQ extends TObject = Q,
>(
  address: `${Route['method']} ${string}`,
  definition: Omit<Route, 'method' | 'path' | 'body' | 'query' | 'ids' | 'handle' | 'ofMembers'> & {
    readonly body?: B;
    readonly query?: Q;
    readonly ids?: I;
    readonly handle: (call: HandlerContext<Static<B>, Static<Q>, I>) => Promise<Answer>;
    readonly ofMembers?: OfMembers<
      (call: HandlerContext<Static<MemberB>, Static<MemberQ>, I>) => Promise<Answer>,
      MemberB,
      MemberQ
    >;
  },
): Route {
  const [method, path] = address.split(' ');
  return { ...definition, method, path } as unknown as Route;
}
