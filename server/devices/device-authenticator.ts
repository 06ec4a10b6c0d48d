import type { Runtime } from '#server/database/runtime.ts';
import type { AuthenticatedRoute, Authenticator, EndedTokenReason } from '#server/http/route.ts';
import { AppError, tooManyRequests } from '#server/platform/app-error.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import type { DeviceId, NumberId, TeamId } from '#server/platform/ids.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { FixedWindowLimiter } from '#server/platform/network/fixed-window-limiter.ts';
import { createBodyLimiter } from './body-limiter.ts';
import { findKnownTokens, type KnownTokenRow } from './device-store.ts';

/** `dev_`, a routing tag and 32 bytes as base64url (Secrets.deviceToken); any other text is not looked up. */
const shape = /^dev_[a-z0-9]{4}[\w-]{43}$/;

/** Upper bound on remembered tokens, more than the phones of one process. */
const keptMax = 50_000;

class KnownToken {
  readonly hash: Buffer;
  readonly teamId: TeamId;
  readonly deviceId: DeviceId;
  readonly numberId: NumberId;
  readonly phoneNumber: string;
  #ended: EndedTokenReason | undefined;

  constructor(row: KnownTokenRow) {
    this.hash = row.hash;
    this.teamId = row.team_id;
    this.deviceId = row.id;
    this.numberId = row.number_id;
    this.phoneNumber = row.phone_number;
    this.#ended = row.ended ?? undefined;
  }

  /** Why the token has ended; undefined if this process has not seen its end. */
  get ended(): EndedTokenReason | undefined {
    return this.#ended;
  }

  /** An ended token never becomes valid again. */
  readonly end = (reason: EndedTokenReason): void => {
    this.#ended = reason;
  };
}

/**
 * Remembers the device tokens that this process found in the database, so that a poll costs no look-up of its own. No
 * device is ever deleted or moved to another number, so a known token stays known. Each call still checks in the database whether its device may
 * make the call.
 */
class DeviceTokenLookup {
  readonly #lookup: CredentialLookup<KnownTokenRow>;
  /** Known tokens by their text, the most recently used last. */
  readonly #kept = new BoundedMap<string, KnownToken>(keptMax);

  constructor({ database, clock, config }: Runtime) {
    this.#lookup = new CredentialLookup({
      clock,
      config,
      find: (hashes) => findKnownTokens(database.hot, { hashes }),
    });
  }

  /** Finds a device token. @returns undefined for an unknown token, which is counted against the client's network */
  async find(token: unknown, ip: string): Promise<KnownToken | undefined> {
    if (typeof token !== 'string' || !shape.test(token)) return this.#refuse(ip);
    const kept = this.#kept.get(token);
    if (!kept) return this.#look(token, ip);
    this.#kept.set(token, kept);
    return kept;
  }

  async #look(token: string, ip: string): Promise<KnownToken | undefined> {
    const row = await this.#lookup.find(token, ip);
    if (!row) return this.#refuse(ip);
    const known = this.#kept.get(token) ?? new KnownToken(row);
    this.#kept.set(token, known);
    return known;
  }

  /**
   * Counts a refused token against the client's network. Beyond the limit the answer stays the same, but look-ups from
   * this network are delayed.
   */
  #refuse(ip: string): undefined {
    this.#lookup.refuse(ip);
    return undefined;
  }
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
  const tokens = new DeviceTokenLookup(services);
  const admitBody = createBodyLimiter(services);
  const isOverLimit = createTokenLimiter(services);
  return async (request, reply, route) => {
    if (route.admission?.byLink) return {};
    const { headers, ip } = request;
    const token = await tokens.find(headers['x-device-token'], ip);
    if (!token)
      throw new AppError(
        'unauthorized',
        'This server does not know this device token. Set up the iPhone again with a new setup link.',
      );
    if (route.admission?.refusesEndedToken && token.ended) throw new EndedTokenError(token.ended);
    const key = token.hash.toString('hex');
    const device = {
      teamId: token.teamId,
      deviceId: token.deviceId,
      numberId: token.numberId,
      phoneNumber: token.phoneNumber,
      tokenHash: token.hash,
      isPoll: route.admission?.permit === 'held',
      isOverLimit: isOverLimit(key, route),
      endToken: token.end,
    };
    if (device.isOverLimit && !device.isPoll) return { device, refusal: tooManyRequests(60) };
    await admitBody(key, token.teamId, request, reply);
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
