import type { FastifyRequest } from 'fastify';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError, tooManyRequests } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { FixedWindowLimiter } from '#server/platform/fixed-window-limiter.ts';
import type { Door, SignedIn } from '#server/platform/http/route.ts';
import { publicId } from '#server/platform/ids.ts';
import { mapMaybe } from '#server/platform/maybe-promise.ts';
import type { NetworkLimit } from '#server/platform/network-limit.ts';
import { foreignOrigin } from './same-origin.ts';
import { SessionCookie, sessionDays } from './session-cookie.ts';
import { findLiveSession, type LiveSessionRow, touchSession } from './session-store.ts';

/** What a person and a page of theirs may ask in a minute; far more than a page asks for. */
const requestsPerMinute = 600;
/** A session's last use is written no more often than this. */
const touchMs = 60_000;

/** Who is signed in, by the cookie: 401 without one. Nothing is cached, so a session that ended has ended everywhere. */
export type Identify = (request: FastifyRequest) => Promise<SignedIn>;

export function createIdentify(services: Pick<Runtime, 'database' | 'clock' | 'config'>): Identify {
  const { database, clock, config } = services;
  const cookie = new SessionCookie(config);
  const limit = new FixedWindowLimiter(clock, requestsPerMinute);

  const touch = async (session: LiveSessionRow): Promise<void> => {
    if (clock.nowMs() - session.last_used_at.getTime() < touchMs) return;
    await touchSession(database.pool, session.id, clock.now(), clock.in(sessionDays * 86_400_000));
  };

  return async (request) => {
    const token = cookie.read(request);
    if (token === undefined) throw notSignedIn();
    const hash = sha256(token);
    // Counted before the look-up, which therefore has the same limit.
    if (config.rateLimits && !limit.allows(hash.toString('latin1'))) throw tooManyRequests(limit.secondsLeft);
    const session = await findLiveSession(database.pool, hash, clock.expiryNow());
    if (!session) throw notSignedIn();
    await touch(session);
    return {
      accountId: session.account_id,
      sessionId: session.id,
      actor: { kind: 'account', id: publicId('acc', session.account_id), name: session.email },
    };
  };
}

function notSignedIn(): AppError {
  return new AppError('unauthorized', 'You are not signed in. Sign in, and repeat this.');
}

/** Who is signed in; undefined where nobody is: for pages, which then show something else. */
export async function whoIsSignedIn(
  identify: Identify,
  request: FastifyRequest,
): Promise<SignedIn | undefined> {
  try {
    return await identify(request);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthorized') return undefined;
    throw error;
  }
}

/** The door of what anybody does who is signed in (specification section 12.3). */
export function createAccountDoor(identify: Identify, { config }: Pick<Runtime, 'config'>): Door {
  return async (request) => {
    const signedIn = await identify(request);
    const refusal = foreignOrigin(request, config.appUrl);
    return { signedIn, ...(refusal ? { refusal } : {}) };
  };
}

/** The door of what the dashboard asks before somebody is signed in. A forged request is noted where the browser is. */
export function createVisitorDoor(
  identify: Identify,
  limit: NetworkLimit,
  { config }: Pick<Runtime, 'config'>,
): Door {
  return async (request) => {
    await limit.take(request);
    const refusal = foreignOrigin(request, config.appUrl);
    if (!refusal) return {};
    const signedIn = await whoIsSignedIn(identify, request);
    return { refusal, ...(signedIn ? { signedIn } : {}) };
  };
}

/**
 * The door of pages: opening one changes nothing, and has the limit of what is open to everybody. A form is let in like
 * anything else that a visitor sends.
 */
export function createPageDoor(visitorDoor: Door, openLimit: NetworkLimit): Door {
  return (request, reply, route) =>
    route.method === 'GET' || route.byToken
      ? mapMaybe(openLimit.take(request), () => ({}))
      : visitorDoor(request, reply, route);
}
