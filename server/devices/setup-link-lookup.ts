import type { Runtime } from '#server/database/runtime.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { setupLinkExpiredError } from './claim-device.ts';
import { findOpenSetupLinks } from './device-store.ts';

/** The token at the end of every setup link: 32 bytes as base64url (randomToken). */
const shape = /^[\w-]{43}$/;

/** Looks up tokens of open setup links, for claims, which have no other credential. */
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
