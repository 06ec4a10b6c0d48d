import { timingSafeEqual } from 'node:crypto';
import { type Secrets, sha256 } from '#server/platform/crypto.ts';

/** The path of the probe. It is below /v1/device, because a proxy may have other rules for the device endpoints. */
export const probePath = '/v1/device/probe/:ticket';

/** Lifetime of a ticket: a check takes a minute at most, and clocks may differ. */
const ticketMs = 300_000;

/** Creates a ticket that is valid for five minutes. `ownline doctor` has SECRETS_KEY and can therefore create one. */
export function createProbeTicket(secrets: Secrets, nowMs: number): string {
  const expiry = Math.floor(nowMs + ticketMs).toString(36);
  return `${expiry}.${secrets.mac('probe', expiry)}`;
}

/** Whether a ticket was made with this SECRETS_KEY and has not expired. */
export function isProbeTicket(secrets: Secrets, ticket: string, nowMs: number): boolean {
  const [, expiry = '', mac = ''] = /^([0-9a-z]{1,12})\.([\w-]{43})$/.exec(ticket) ?? [];
  const leftMs = Number.parseInt(expiry, 36) - nowMs;
  // An expiry further ahead than a new ticket's comes from a wrong clock. timingSafeEqual requires texts of equal
  // length, so hashes are compared.
  return (
    timingSafeEqual(sha256(mac), sha256(secrets.mac('probe', expiry))) && leftMs > 0 && leftMs <= 2 * ticketMs
  );
}
