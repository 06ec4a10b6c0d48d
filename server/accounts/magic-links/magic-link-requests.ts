import { findAccountByEmail } from '#server/accounts/account/account-store.ts';
import { normalizeEmail, parseEmail } from '#server/accounts/account/email.ts';
import {
  magicLinkRequestsPerNetworkAndHour,
  magicLinksPerAddressAndHour,
  mailedLinkHours,
} from '#server/accounts/limits.ts';
import type { ClientInfo } from '#server/accounts/sessions/create-session.ts';
import { isKnownNetwork } from '#server/accounts/throttling/login-throttle.ts';
import { countInWindow } from '#server/accounts/throttling/throttle-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError, rateLimited } from '#server/platform/app-error.ts';
import { clientNetwork } from '#server/platform/network/client-network.ts';
import { createMagicLink, type SendMagicLink } from './magic-link.ts';

/** Numbers of links that were requested for an address in this hour: in all, and by one client network. */
interface Counts {
  readonly ofAddress: number;
  readonly ofBoth: number;
}

/**
 * Requests for a magic link by mail (specification section 12.2). The answer and its time are the same for every
 * address. The limits count unknown addresses, too, and the answer waits for neither the account nor the mail. `drain`
 * waits for the mails in progress; a crash loses them, and the person asks again.
 */
export class MagicLinkRequests {
  readonly #services: Runtime;
  readonly #send: SendMagicLink | undefined;
  readonly #inFlight = new Set<Promise<void>>();

  constructor(services: Runtime, send: SendMagicLink | undefined) {
    this.#services = services;
    this.#send = send;
  }

  get isEnabled(): boolean {
    return this.#send !== undefined;
  }

  /**
   * Mails a magic link if the address has an account and is below its limit.
   * @param next the path after the sign-in, as a query such as `?next=…`; '' for the start page
   * @throws 400 for an invalid address, or on a server without mail; 429 where the client network requests too many
   */
  async request(written: string, request: Pick<ClientInfo, 'ip' | 'id'>, next = ''): Promise<void> {
    const email = parseEmail(written);
    const send = this.#send;
    if (!send) {
      throw new AppError(
        'invalid_request',
        'This server sends no mail. Ask the operator of this server for a link to sign in.',
      );
    }
    const counts = await this.#count(email, request.ip);
    const work = this.#mail(send, email, request, counts, next).catch((error) =>
      this.#services.logger.error(
        { err: error, requestId: request.id },
        'queueing the mail of a magic link failed',
      ),
    );
    this.#inFlight.add(work);
    work.finally(() => this.#inFlight.delete(work));
  }

  /** Resolves once no mail is in progress. */
  async drain(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  async #count(email: string, ip: string): Promise<Counts> {
    const [source, key] = [clientNetwork(ip), normalizeEmail(email)];
    const subjects = [`links source ${source}`, `links address ${key}`, `links both ${source} ${key}`];
    const { counts, secondsLeft } = await countInWindow(
      this.#services.database.pool,
      this.#services,
      subjects,
    );
    const [ofSource = 0, ofAddress = 0, ofBoth = 0] = counts;
    if (ofSource > magicLinkRequestsPerNetworkAndHour) {
      throw rateLimited(
        secondsLeft,
        'Too many sign-in links were requested from this network',
        ', or sign in with a password or a passkey',
      );
    }
    return { ofAddress, ofBoth };
  }

  async #mail(
    send: SendMagicLink,
    email: string,
    { ip, id: requestId }: Pick<ClientInfo, 'ip' | 'id'>,
    { ofAddress, ofBoth }: Counts,
    next: string,
  ): Promise<void> {
    const { database, clock } = this.#services;
    const account = await findAccountByEmail(database.pool, email);
    if (!account) return;
    // Requests by strangers must not use up the limit of the address's owner, whose network is known from a session.
    const isOwners = () => isKnownNetwork(database.pool, account.id, ip, clock.expiryNow());
    if (
      ofAddress > magicLinksPerAddressAndHour &&
      (ofBoth > magicLinksPerAddressAndHour || !(await isOwners()))
    )
      return;
    await database.transaction(async (trx) => {
      const by = { kind: 'server', id: '', name: '', ip, requestId } as const;
      const { url, expiresAt } = await createMagicLink(trx, this.#services, account, {
        hours: mailedLinkHours,
        by,
      });
      await send(trx, account, url + next, expiresAt);
    });
  }
}
