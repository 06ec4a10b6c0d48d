import type { Runtime } from '#server/database/runtime.ts';
import { AppError, tooManyRequests } from '#server/platform/app-error.ts';
import type { AuthenticatedRoute, Authenticator, EndedTokenReason } from '#server/platform/http/route.ts';
import { FixedWindowLimiter } from '#server/platform/network/fixed-window-limiter.ts';
import { createBodyLimiter } from './body-limiter.ts';
import { DeviceTokenLookup } from './device-token-lookup.ts';

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
    if (route.admission?.byToken) return {};
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
