import type { FastifyRequest } from 'fastify';
import { sessionIdleDays, sessionRequestsPerMinute } from '#server/accounts/limits.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { Authenticator, SignedIn } from '#server/platform/http/route.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import {
  FixedWindowLimiter,
  type NetworkRateLimiter,
} from '#server/platform/network/fixed-window-limiter.ts';
import { AccountSessionLookup } from './account-session-lookup.ts';
import { csrfRefusal } from './csrf.ts';
import { SessionCookie } from './session-cookie.ts';
import { type LiveAccountSessionRow, touchAccountSession } from './session-store.ts';

/** The minimum interval between updates of a session's last use. */
const touchMs = 60_000;

/**
 * Finds the account session by the session cookie. Nothing is cached, so an ended session is refused by every process
 * at once.
 * @param isAgain true for a long poll that is authenticated again: the rate limiter does not count it twice
 * @throws 401 without a live session; 429
 */
export type RequireSession = (request: FastifyRequest, isAgain?: boolean) => Promise<SignedIn>;

export function createRequireSession(
  services: Pick<Runtime, 'database' | 'clock' | 'config'>,
): RequireSession {
  const { database, clock, config } = services;
  const cookie = new SessionCookie(config);
  const limiter = new FixedWindowLimiter(services, sessionRequestsPerMinute);
  const sessions = new AccountSessionLookup(services);

  const touch = async (session: LiveAccountSessionRow): Promise<void> => {
    if (clock.nowMs() - session.last_used_at.getTime() < touchMs) return;
    const now = clock.now();
    await touchAccountSession(database.pool, session.id, now, clock.in(sessionIdleDays * 86_400_000, now));
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
  { config }: Pick<Runtime, 'config'>,
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
  { config }: Pick<Runtime, 'config'>,
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
    if (route.method !== 'GET' && !route.byToken) return visitorAuthenticator(request, reply, route);
    await openLimiter.take(request);
    return {};
  };
}
