import type { FastifyRequest } from 'fastify';
import { sessionIdleDays, sessionRequestsPerMinute } from '#server/accounts/limits.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Authenticator, SignedIn } from '#server/http/route.ts';
import { AppError } from '#server/platform/app-error.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { publicId } from '#server/platform/ids.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import {
  FixedWindowLimiter,
  type NetworkRateLimiter,
} from '#server/platform/network/fixed-window-limiter.ts';
import { csrfRefusal, SessionCookie } from './cookies.ts';
import { findLiveSessions, type LiveAccountSessionRow, touchAccountSession } from './session.ts';

/** A session token: 32 bytes in base64url. */
const sessionTokenPattern = /^[\w-]{43}$/;

/** Upper bound on the tokens that a process remembers as valid; beyond it the oldest is evicted. */
const validTokensMax = 10_000;

/**
 * Finds the session of a token. Every request reads the database, so that an ended session is refused by every process
 * at once. CredentialLookup bounds the cost of wrong tokens.
 */
class AccountSessionLookup {
  readonly #lookup: CredentialLookup<LiveAccountSessionRow>;
  /**
   * Tokens that were valid at their last look-up. Their look-ups are never delayed, even if the same client network
   * sends wrong tokens.
   */
  readonly #valid = new BoundedMap<string, true>(validTokensMax);

  constructor({ database, clock, config }: Runtime) {
    this.#lookup = new CredentialLookup({
      clock,
      config,
      find: (tokenHashes) => findLiveSessions(database.pool, { tokenHashes, now: clock.expiryNow() }),
      sharesLookups: false,
    });
  }

  /** Counts a refused request of the client network. @returns 429 once the network is over its limit */
  refuse(ip: string): AppError | undefined {
    return this.#lookup.refuse(ip);
  }

  /**
   * Finds the session of a token. @returns undefined for an unknown token; a malformed one never reaches the database
   */
  async find(token: string, ip: string): Promise<LiveAccountSessionRow | undefined> {
    if (!sessionTokenPattern.test(token)) return undefined;
    const session = await this.#lookup.find(token, this.#valid.has(token) ? undefined : ip);
    this.#valid.delete(token);
    if (session) this.#valid.set(token, true);
    return session;
  }
}

/** The minimum interval between updates of a session's last use. */
const touchMs = 60_000;

/**
 * Finds the account session by the session cookie. Nothing is cached, so an ended session is refused by every process
 * at once.
 * @param isAgain true for a long poll that is authenticated again: the rate limiter does not count it twice
 * @throws 401 without a live session; 429
 */
export type RequireSession = (request: FastifyRequest, isAgain?: boolean) => Promise<SignedIn>;

export function createRequireSession(services: Runtime): RequireSession {
  const { database, clock, config } = services;
  const cookie = new SessionCookie(config);
  const limiter = new FixedWindowLimiter(services, sessionRequestsPerMinute);
  const sessions = new AccountSessionLookup(services);

  const touch = async (session: LiveAccountSessionRow): Promise<void> => {
    if (clock.nowMs() - session.last_used_at.getTime() < touchMs) return;
    const now = clock.now();
    const expiresAt = clock.in(sessionIdleDays * 86_400_000, now);
    await touchAccountSession(database.pool, { sessionId: session.id, now, expiresAt });
  };

  return async (request, isAgain = false) => {
    const token = cookie.read(request);
    if (token === undefined) throw new NotSignedIn();
    const hash = sha256(token);
    // The limiter counts before the look-up, so that look-ups are bounded, too.
    if (!isAgain) limiter.take(hash.toString('latin1'), `a session has ${sessionRequestsPerMinute} a minute`);
    const session = await sessions.find(token, request.ip);
    if (!session) throw new NotSignedIn(sessions.refuse(request.ip));
    await touch(session);
    return {
      accountId: session.account_id,
      sessionId: session.id,
      actor: { kind: 'account', id: publicId('acc', session.account_id), name: session.email },
    };
  };
}

/** The error for a request without a session: 401, or 429 once its client network is over its limit of refusals. */
class NotSignedIn extends AppError {
  constructor(pastLimit?: AppError) {
    super(
      pastLimit?.code ?? 'unauthorized',
      pastLimit?.message ?? 'You are not signed in. Sign in, and try again.',
      pastLimit ? { headers: pastLimit.headers } : {},
    );
  }
}

/**
 * Finds the signed-in account for pages, which anyone may open. As the request's caller, it is named by the audit log if
 * the request is refused. @returns undefined without a session
 */
export async function findSignedIn(
  requireSession: RequireSession,
  request: FastifyRequest,
): Promise<SignedIn | undefined> {
  try {
    const signedIn = await requireSession(request);
    request.caller = { ...request.caller, signedIn };
    return signedIn;
  } catch (error) {
    if (error instanceof NotSignedIn) return undefined;
    throw error;
  }
}

/** Authenticator of the audience `account`: any signed-in person (specification section 12.3). */
export function createAccountAuthenticator(
  requireSession: RequireSession,
  { config }: Runtime,
): Authenticator {
  return async (request) => {
    const signedIn = await requireSession(request);
    const refusal = csrfRefusal(request, config.appUrl);
    return { signedIn, ...(refusal ? { refusal } : {}) };
  };
}

/**
 * Authenticator of the audience `visitor`: requests of the dashboard before a sign-in. The audit log records a forged
 * request for the account that the browser is signed in to.
 */
export function createVisitorAuthenticator(
  requireSession: RequireSession,
  limiter: NetworkRateLimiter,
  { config }: Runtime,
): Authenticator {
  return async (request) => {
    await limiter.take(request);
    const refusal = csrfRefusal(request, config.appUrl);
    if (!refusal) return {};
    const signedIn = await findSignedIn(requireSession, request);
    return { refusal, ...(signedIn ? { signedIn } : {}) };
  };
}

/**
 * Authenticator of pages. Opening a page changes nothing and counts against the network limit of open routes. A
 * submitted form is checked like any request of a visitor.
 */
export function createSessionlessPageAuthenticator(
  visitorAuthenticator: Authenticator,
  openLimiter: NetworkRateLimiter,
): Authenticator {
  return async (request, reply, route) => {
    if (route.method !== 'GET' && !route.admission?.byToken)
      return visitorAuthenticator(request, reply, route);
    await openLimiter.take(request);
    return {};
  };
}
