import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { endSetupLink, insertDeviceOnce, lockOpenSetupLink, type SetupLinkRow } from './device-store.ts';

/**
 * Claim of a device: exchanges a setup link for the device token (specification section 11.1). Until the person presses
 * Done, the same link returns the same token, because a page may be reloaded or a copy may fail.
 * @throws AppError 404 if the link was used up, replaced, expired or never made
 */
export async function claimDevice(
  { database, clock, ids, secrets }: Pick<Runtime, 'database' | 'clock' | 'ids' | 'secrets'>,
  setupToken: string,
): Promise<{ readonly deviceToken: string; readonly link: SetupLinkRow }> {
  const now = clock.now();
  return database.transaction(async (trx) => {
    const link = await lockOpenSetupLink(trx, sha256(setupToken), clock.expiryNow());
    if (!link) throw setupLinkExpiredError();
    const deviceToken = secrets.deviceToken(link.route, setupToken);
    await insertDeviceOnce(trx, link, {
      id: ids.next('dev'),
      tokenHash: sha256(deviceToken),
      createdAt: now,
    });
    return { deviceToken, link };
  });
}

/**
 * Closes a setup link once the person at the iPhone has finished: it returns no more tokens (specification section
 * 11.1).
 */
export async function closeSetupLink(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  setupToken: string,
): Promise<void> {
  if (!(await endSetupLink(database.pool, sha256(setupToken), clock.expiryNow())))
    throw setupLinkExpiredError();
}

export function setupLinkExpiredError(): AppError {
  return new AppError(
    'not_found',
    'This setup link was used or has expired. Create a new one with POST /v1/numbers/:id/reconnect, ' +
      'or POST /v1/numbers/verify where the number is not verified yet.',
  );
}
