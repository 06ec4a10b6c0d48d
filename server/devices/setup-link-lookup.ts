import type { Runtime } from '#server/database/runtime.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { setupLinkExpiredError } from './claim-device.ts';
import { findOpenSetupLinks } from './device-store.ts';

/** The token at the end of every setup link: 32 bytes as base64url (randomToken). */
const shape = /^[\w-]{43}$/;

/** Looks up the tokens of open setup links, the only credential of a claim. */
export class SetupLinkLookup {
  readonly #lookup: CredentialLookup<{ readonly hash: Buffer }>;

  constructor({ database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>) {
    this.#lookup = new CredentialLookup({
      clock,
      config,
      find: (hashes) => findOpenSetupLinks(database.hot, hashes, clock.expiryNow()),
    });
  }

  /**
   * Requires that a setup link is open. @throws AppError 404 if no open link has this token, 429 beyond the limit of
   * such refusals per client network
   */
  async requireOpen(token: string, ip: string): Promise<void> {
    const link = shape.test(token) ? await this.#lookup.find(token, ip) : undefined;
    if (link) return;
    throw this.#lookup.refuse(ip) ?? setupLinkExpiredError();
  }
}
