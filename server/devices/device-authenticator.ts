import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { mapMaybe } from '#server/platform/concurrency/maybe-promise.ts';
import type { Authenticator } from '#server/platform/http/route.ts';
import { KnownTokens } from './known-tokens.ts';

/**
 * The authenticator of device calls: the token is looked up before the body is read (specification section 11.1). A
 * claim has no token yet: the setup link in its body allows it.
 */
export function createDeviceAuthenticator(
  services: Pick<Runtime, 'database' | 'clock' | 'config'>,
): Authenticator {
  const tokens = new KnownTokens(services);
  return ({ headers, ip }, _reply, { byToken }) => {
    if (byToken) return {};
    return mapMaybe(tokens.find(headers['x-device-token'], ip), (deviceTokenHash) => {
      if (!deviceTokenHash) throw new AppError('unauthorized', 'This device token is not known.');
      return { deviceTokenHash };
    });
  };
}
