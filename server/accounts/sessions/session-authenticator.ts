import type { FastifyRequest } from 'fastify';
import { sessionIdleDays, sessionRequestsPerMinute } from '#server/accounts/limits.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Authenticator, SignedIn } from '#server/http/route.ts';
import { AppError, forbidden } from '#server/platform/app-error.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { publicId } from '#server/platform/ids.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import {
  FixedWindowLimiter,
  type NetworkRateLimiter,
} from '#server/platform/network/fixed-window-limiter.ts';
import { sessionCookie } from './cookies.ts';
import { findLiveSessions, type LiveAccountSessionRow, touchAccountSession } from './session.ts';

/** A session token: 32 bytes in base64url. */
const sessionTokenPattern = /^[\w-]{43}$/;

const validTokensMax = 10_000;

/** The minimum interval between updates of a session's last use. */
const touchMs = 60_000;

/**
 * Finds the account session by the session cookie. Every request reads the database, so an ended session is refused by
 * every process at once. CredentialLookup bounds the cost of wrong tokens.
 * @param isAgain true for a long poll that is authenticated again: the rate limiter does not count it twice
 * @throws 401 without a live session; 429
 */
export type RequireSession = (request: FastifyRequest, isAgain?: boolean) => Promise<SignedIn>;

export function createRequireSession(services: Runtime): RequireSession {
  const { database, clock, config } = services;
  const cookie = sessionCookie(config);
  const limiter = new FixedWindowLimiter(services, sessionRequestsPerMinute);
  const lookup = new CredentialLookup<LiveAccountSessionRow>({
    clock,
    config,
    find: (tokenHashes) => findLiveSessions(database.pool, { tokenHashes, now: clock.expiryNow() }),
    sharesLookups: false,
  });
  // Tokens that were valid at their last look-up. Their look-ups are never delayed, even if the same client network
  // sends wrong tokens.
  const valid = new BoundedMap<string, true>(validTokensMax);

  const find = async (token: string, ip: string): Promise<LiveAccountSessionRow | undefined> => {
    // A malformed token never reaches the database.
    if (!sessionTokenPattern.test(token)) return undefined;
    const session = await lookup.find(token, valid.has(token) ? undefined : ip);
    valid.delete(token);
    if (session) valid.set(token, true);
    return session;
  };

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
    const session = await find(token, request.ip);
    if (!session) throw new NotSignedIn(lookup.refuse(request.ip));
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
 * Finds the signed-in account of a request for a page, which anyone may open. If the request is refused, the audit log
 * names the account. @returns undefined without a session
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

/**
 * CSRF guard (specification section 12.3): a request that changes something must come from a page of APP_URL. Browsers
 * state the page's origin in the header Sec-Fetch-Site, which pages can't write. On plain http they omit it, except for
 * localhost. Then the header Origin must be that of APP_URL or, on plain http, the address of the request itself. A
 * foreign host name that resolves to this server gains nothing: browsers send it no cookie of APP_URL.
 * @returns 403; undefined for an allowed request
 */
export function csrfRefusal(request: FastifyRequest, appUrl: string): AppError | undefined {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined;
  const { 'sec-fetch-site': site, origin, host } = request.headers;
  const own = new URL(appUrl);
  const isSameHost = own.protocol === 'http:' && host !== undefined && origin === `http://${host}`;
  const isOwn = site === undefined ? origin === own.origin || isSameHost : site === 'same-origin';
  if (isOwn) return undefined;
  return forbidden(
    `This request must come from a page of ${own.origin}. Open it there; programs use /v1 with an API key.`,
  );
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
    if (route.method !== 'GET' && !route.admission?.ownToken)
      return visitorAuthenticator(request, reply, route);
    await openLimiter.take(request);
    return {};
  };
}
