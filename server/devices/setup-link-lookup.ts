import type { Runtime } from '#server/database/runtime.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { setupLinkExpiredError } from './claim-device.ts';
import { findOpenSetupLinks } from './device-store.ts';

/** 32 bytes as base64url, as every setup link ends (randomToken). */
const shape = /^[\w-]{43}$/;

/** Which texts are the token of an open setup link, for claims, which come without any other credential. */
export class SetupLinkLookup {
  readonly #lookup: CredentialLookup<{ readonly hash: Buffer }>;

  constructor({ database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>) {
    this.#lookup = new CredentialLookup({
      clock,
      rateLimits: config.rateLimits,
      find: (hashes) => findOpenSetupLinks(database.hot, hashes, clock.expiryNow()),
    });
  }

  /** @throws AppError 404 where no open link has this token, 429 past the limit of such refusals of a client network */
  async requireOpen(token: string, ip: string): Promise<void> {
    const link = shape.test(token) ? await this.#lookup.find(token, ip) : undefined;
    if (link) return;
    throw this.#lookup.countRefusal(ip) ? setupLinkExpiredError() : this.#lookup.tooManyRefusals();
  }
}
