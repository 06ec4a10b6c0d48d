import { query, type Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { Config } from '#server/platform/config.ts';
import { randomToken, sha256 } from '#server/platform/crypto.ts';
import type { NumberId, TeamId } from '#server/platform/ids.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import {
  endSetupLink,
  endSetupLinks,
  findOpenSetupLinks,
  insertDeviceOnce,
  insertSetupLink,
  lockOpenSetupLink,
  type SetupLinkRow,
} from './device-store.ts';

/** How long a setup link works. */
const setupLinkMs = 24 * 3_600_000;

/** How long a setup link that no phone used is kept after it expired. */
const setupLinkRetentionMs = 30 * 86_400_000;

/** The address that a phone calls, with the routing tag of its team in place of `{team}` (specification section 11.1). */
export function deviceUrlOf({ deviceUrl }: Pick<Config, 'deviceUrl'>, routingTag: string): string {
  return deviceUrl.replace('{team}', routingTag);
}

/**
 * Creates a setup link, which connects a phone to a number. Earlier links of the number stop working.
 * @returns the URL for the iPhone
 */
export async function createSetupLink(
  trx: Transaction,
  { clock, ids, config }: Runtime,
  number: { readonly teamId: TeamId; readonly numberId: NumberId },
): Promise<string> {
  const token = randomToken();
  const now = clock.now();
  await endSetupLinks(trx, { ...number, at: now });
  await insertSetupLink(trx, {
    ...number,
    id: ids.next('link'),
    tokenHash: sha256(token),
    createdAt: now,
    expiresAt: clock.in(setupLinkMs, now),
  });
  return `${config.appUrl}/setup/${token}`;
}

/** The token at the end of every setup link: 32 bytes as base64url (randomToken). */
const shape = /^[\w-]{43}$/;

/**
 * Looks up the tokens of open setup links, the only credential of a claim.
 * @returns a function that throws AppError 404 if no open link has the token, and 429 beyond the limit of such refusals
 * per client network
 */
export function createRequireOpenLink({ database, clock, config }: Runtime) {
  const lookup = new CredentialLookup({
    clock,
    config,
    find: (hashes) => findOpenSetupLinks(database.hot, { hashes, at: clock.expiryNow() }),
  });
  return async (token: string, ip: string): Promise<void> => {
    const link = shape.test(token) ? await lookup.find(token, ip) : undefined;
    if (!link) throw lookup.refuse(ip) ?? setupLinkExpiredError();
  };
}

/**
 * Claim of a device: exchanges a setup link for the device token (specification section 11.1). Until the person presses
 * Done, the same link returns the same token, because a page may be reloaded or a copy may fail.
 * @throws AppError 404 if the link was used up, replaced, expired or never made
 */
export async function claimDevice(
  { database, clock, ids, secrets }: Runtime,
  setupToken: string,
): Promise<{ readonly deviceToken: string; readonly link: SetupLinkRow }> {
  const createdAt = clock.now();
  return database.transaction(async (trx) => {
    const link = await lockOpenSetupLink(trx, { tokenHash: sha256(setupToken), at: clock.expiryNow() });
    if (!link) throw setupLinkExpiredError();
    const deviceToken = secrets.deviceToken(link.route, setupToken);
    const device = { deviceId: ids.next('dev'), tokenHash: sha256(deviceToken), createdAt };
    await insertDeviceOnce(trx, { ...link, ...device });
    return { deviceToken, link };
  });
}

/**
 * Closes a setup link once the person at the iPhone has finished: it returns no more tokens (specification section
 * 11.1).
 */
export async function closeSetupLink({ database, clock }: Runtime, setupToken: string): Promise<void> {
  if (!(await endSetupLink(database.pool, { tokenHash: sha256(setupToken), at: clock.expiryNow() })))
    throw setupLinkExpiredError();
}

export function setupLinkExpiredError(): AppError {
  return new AppError(
    'not_found',
    'This setup link was used or has expired. Create a new one with POST /v1/numbers/:id/reconnect, ' +
      'or POST /v1/numbers/verify where the number is not verified yet.',
  );
}

const batchMax = 1_000;

/** Maximum number of batches in one round; the next round continues. */
const batchesMax = 100;

// Links with a device token stay, because the token's row refers to them.
const purge = query<{ before: Date; limit: number }>(
  'devices.purge-setup-links',
  `DELETE FROM setup_links WHERE (team_id, id) IN (
     SELECT l.team_id, l.id FROM setup_links l
     WHERE l.expires_at < :before
       AND NOT EXISTS (SELECT FROM devices d WHERE d.team_id = l.team_id AND d.setup_link_id = l.id)
     LIMIT :limit FOR UPDATE SKIP LOCKED
   )`,
).count;

/** Deletes setup links that no phone used, 30 days after they expired. */
export async function purgeSetupLinks({ database, clock }: Runtime): Promise<void> {
  const batch = { before: clock.in(-setupLinkRetentionMs), limit: batchMax };
  for (let batches = 0; batches < batchesMax; batches += 1)
    if ((await purge(database.pool, batch)) < batchMax) return;
}
