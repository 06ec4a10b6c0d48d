import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Runtime } from '#server/database/runtime.ts';
import { bodyMaxBytes } from '#server/http/limits.ts';
import type { AuthenticatedRoute, Authenticator, EndedTokenReason } from '#server/http/route.ts';
import { isDisconnected } from '#server/http/stream-answer.ts';
import { AppError, tooManyRequests, unavailable } from '#server/platform/app-error.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import {
  acquireAll,
  KeyedSemaphore,
  type QueueBounds,
} from '#server/platform/concurrency/keyed-semaphore.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { FixedWindowLimiter } from '#server/platform/network/fixed-window-limiter.ts';
import { findKnownTokens, type KnownTokenRow } from './device-store.ts';

/** `dev_`, a routing tag and 32 bytes as base64url (Secrets.deviceToken); any other text is not looked up. */
const shape = /^dev_[a-z0-9]{4}[\w-]{43}$/;

/** Upper bound on remembered tokens, more than the phones of one process. */
const keptMax = 50_000;

/**
 * Remembers the device tokens that this process found in the database, so that a poll costs no look-up of its own. No
 * device is ever deleted or moved to another number, so a known token stays known. Each call still checks in the
 * database whether its device may make the call. A refused token counts against the client's network. Beyond that limit
 * the answer stays the same, but look-ups from the network are delayed.
 * @returns a function that finds a token; undefined for an unknown one
 */
function createTokenLookup({ database, clock, config }: Runtime) {
  const lookup = new CredentialLookup<KnownTokenRow>({
    clock,
    config,
    find: (hashes) => findKnownTokens(database.hot, { hashes }),
  });
  /** Known tokens by their text, the most recently used last. */
  const kept = new BoundedMap<string, KnownTokenRow>(keptMax);
  return async (token: unknown, ip: string): Promise<KnownTokenRow | undefined> => {
    if (typeof token === 'string' && shape.test(token)) {
      const found = kept.get(token) ?? (await lookup.find(token, ip));
      // Another call may have found the token meanwhile, and seen that it has ended.
      const known = kept.get(token) ?? found;
      if (known) kept.set(token, known);
      if (known) return known;
    }
    lookup.refuse(ip);
    return undefined;
  };
}

/** The refusal of a call whose device token has ended. */
export class EndedTokenError extends AppError {
  readonly reason: EndedTokenReason;

  constructor(reason: EndedTokenReason) {
    super(
      'unauthorized',
      'This device token is no longer valid. To send from this iPhone again, connect it with a new setup link.',
    );
    this.reason = reason;
  }
}

/**
 * Authenticates device calls. Before the body is read, it looks the token up (specification section 11.1), counts its
 * calls, and queues large bodies (section 11.7). A claim has no token yet: the setup link in its body authorizes it.
 */
export function createDeviceAuthenticator(services: Runtime): Authenticator {
  const findToken = createTokenLookup(services);
  const admitBody = createBodyLimiter(services);
  const isOverLimit = createTokenLimiter(services);
  return async (request, reply, route) => {
    if (route.admission?.ownToken) return {};
    const { headers, ip } = request;
    const token = await findToken(headers['x-device-token'], ip);
    if (!token)
      throw new AppError(
        'unauthorized',
        'This server does not know this device token. Set up the iPhone again with a new setup link.',
      );
    if (route.admission?.refusesEndedToken && token.ended) throw new EndedTokenError(token.ended);
    const key = token.hash.toString('hex');
    const device = {
      teamId: token.team_id,
      deviceId: token.id,
      numberId: token.number_id,
      phoneNumber: token.phone_number,
      tokenHash: token.hash,
      isPoll: route.admission?.permit === 'held',
      isOverLimit: isOverLimit(key, route),
      // An ended token never becomes valid again.
      endToken: (reason: EndedTokenReason) => {
        token.ended = reason;
      },
    };
    if (device.isOverLimit && !device.isPoll) return { device, refusal: tooManyRequests(60) };
    await admitBody(key, token.team_id, request, reply);
    return { device };
  };
}

/** Counts a call of a token. @returns true if the call is over the limit of its route */
function createTokenLimiter(services: Runtime) {
  const limiters = new Map<string, FixedWindowLimiter>();
  return (key: string, { path, admission: { tokenPerMinute } = {} }: AuthenticatedRoute): boolean => {
    if (tokenPerMinute === undefined) return false;
    const limiter = limiters.get(path) ?? new FixedWindowLimiter(services, tokenPerMinute);
    limiters.set(path, limiter);
    return !limiter.allows(key);
  };
}

/** How many large bodies of one device token are in memory at a time. Large means larger than an ordinary request. */
export const largeDeviceBodiesMax = 4;

/** Size above which a body contains a file: no other body is this large. */
export const fileBodyMinBytes = 1_024 * 1_024;

/** How many bodies with a file are in memory at a time: of a team, and of a process. */
const fileBodiesOfTeamMax = 2;

const fileBodiesMax = 6;

/** How long a large body may wait until it is read: as long as iOS waits for an answer. */
const deviceBodyWaitMaxMs = 60_000;

const queue: QueueBounds = {
  name: 'body',
  waitingMax: Number.POSITIVE_INFINITY,
  waitMaxMs: deviceBodyWaitMaxMs,
  refuse: () => unavailable('Too many large requests of this phone wait. Repeat the request in a moment.'),
};

/**
 * Bounds the memory of device bodies (specification section 11.7). A few large bodies of a token are read at a time;
 * further ones stay unread until a call with a large body is answered. Bodies that may contain a file also count
 * against limits of their team and of the process. Small bodies are not delayed.
 */
function createBodyLimiter({ clock }: Runtime) {
  const tokens = new KeyedSemaphore({ clock, runningMax: largeDeviceBodiesMax });
  const teams = new KeyedSemaphore({ clock, runningMax: fileBodiesOfTeamMax });
  const process = new KeyedSemaphore({ clock, runningMax: fileBodiesMax });
  /** Resolves once the body may be read. @throws AppError 503 if the wait times out */
  return async (
    token: string,
    teamId: TeamId,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> => {
    if (!isLargerThan(bodyMaxBytes, request)) return;
    const ofFile = [
      [teams, teamId],
      [process, ''],
    ] as const;
    const release = await acquireAll(
      queue,
      [tokens, token],
      ...(isLargerThan(fileBodyMinBytes, request) ? ofFile : []),
    );
    if (isDisconnected(reply)) release();
    else reply.raw.once('close', release);
  };
}

/** Whether a body may be larger than `bytes`. A body of unknown length may be. */
function isLargerThan(bytes: number, { raw: { headers } }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > bytes;
}
