import {
  type AccountRow,
  accountColumns,
  findAccountByEmail,
  normalizeEmail,
  parseEmail,
} from '#server/accounts/account/account.ts';
import {
  magicLinkRequestsPerNetworkAndHour,
  magicLinksPerAddressAndHour,
  mailedLinkHours,
} from '#server/accounts/limits.ts';
import type { ClientInfo } from '#server/accounts/sessions/session.ts';
import { countInWindow, isKnownNetwork } from '#server/accounts/throttling/throttle.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { MailContent } from '#server/mail/mail-template.ts';
import { isMailEnabled, queueMail } from '#server/mail/queue-mail.ts';
import { type AuditActor, operator } from '#server/platform/actor.ts';
import { AppError, rateLimited } from '#server/platform/app-error.ts';
import { randomToken, sha256 } from '#server/platform/crypto.ts';
import type { AccountId, Id } from '#server/platform/ids.ts';
import { clientNetwork } from '#server/platform/network/ip-address.ts';

export const insertMagicLink = transactionQuery<{
  id: Id<'alk'>;
  accountId: AccountId;
  tokenHash: Buffer;
  createdAt: Date;
  expiresAt: Date;
}>(
  'magic-links.insert',
  `INSERT INTO magic_links (id, account_id, token_hash, created_at, expires_at)
   VALUES (:id, :accountId, :tokenHash, :createdAt, :expiresAt)`,
).run;

/** Finds the account that a magic link signs in; undefined if the link is used, expired or unknown. */
export const findMagicLinkAccount = query<{ tokenHash: Buffer; now: Date }, AccountRow>(
  'magic-links.find-open',
  `SELECT ${accountColumns} FROM accounts WHERE id = (
     SELECT account_id FROM magic_links WHERE token_hash = :tokenHash AND used_at IS NULL AND expires_at > :now)`,
).row;

/** Marks a link as used. @returns false for a used, expired or unknown link */
export const consumeMagicLink = transactionQuery<{ tokenHash: Buffer; now: Date }>(
  'magic-links.consume',
  'UPDATE magic_links SET used_at = :now WHERE token_hash = :tokenHash AND used_at IS NULL AND expires_at > :now',
).hasRow;

/** Revokes the unused links of an account that the caller has locked. @returns the number of revoked links */
export const revokeMagicLinks = transactionQuery<{ accountId: AccountId }>(
  'magic-links.revoke-all',
  `DELETE FROM magic_links WHERE id IN (
     SELECT id FROM magic_links WHERE account_id = :accountId AND used_at IS NULL ORDER BY id FOR UPDATE)
   RETURNING id`,
).count;

interface LinkOptions {
  readonly hours: number;
  /** The actor that the audit log records; the operator by default. */
  readonly by?: AuditActor;
}

/**
 * Creates a magic link, which signs in to an existing account, once. Only the hash of its token is stored.
 * @returns its url `{app_url}/link/<token>`, for display or mail only, and when it expires
 */
export async function createMagicLink(
  trx: Transaction,
  services: Runtime,
  account: Pick<AccountRow, 'id'>,
  { hours, by = operator }: LinkOptions,
): Promise<{ readonly url: string; readonly expiresAt: Date }> {
  const { ids, clock, config } = services;
  const now = clock.now();
  const expiresAt = clock.in(hours * 3_600_000, now);
  const token = randomToken();
  await insertMagicLink(trx, {
    id: ids.next('alk'),
    accountId: account.id,
    tokenHash: sha256(token),
    createdAt: now,
    expiresAt,
  });
  await recordAudit(trx, services, {
    by,
    action: 'account.link_made',
    accountId: account.id,
    details: { hours },
  });
  return { url: `${config.appUrl}/link/${token}`, expiresAt };
}

/** Queues the mail with a magic link in the transaction that creates the link. @param url valid until `expiresAt` */
export type SendMagicLink = (
  trx: Transaction,
  account: Pick<AccountRow, 'email'>,
  url: string,
  expiresAt: Date,
) => Promise<void>;

/**
 * Creates the function that mails magic links. @returns undefined if this server sends no mail
 */
export function createSendMagicLink(services: Runtime): SendMagicLink | undefined {
  if (!isMailEnabled(services.config)) return undefined;
  return async (trx, account, url, expiresAt) => {
    const mail = { to: account.email, message: magicLinkMail(url), expiresAt };
    await queueMail(trx, services, mail);
  };
}

export function magicLinkMail(url: string): MailContent {
  return {
    subject: 'Your link to sign in',
    heading: 'Sign in to Ownline',
    paragraphs: ['Open this link on the device on which you want to sign in. It works once, for 30 minutes.'],
    action: { label: 'Sign in', url },
    footnote: 'If you did not ask for this link, ignore this mail: without the link no one can sign in.',
  };
}

/** Numbers of links that were requested for an address in this hour: in all, and by one client network. */
interface Counts {
  readonly ofAddress: number;
  readonly ofBoth: number;
}

/**
 * Requests for a magic link by mail (specification section 12.2). The response and its time are the same for every
 * address. The limits count unknown addresses, too, and the response waits for neither the account nor the mail.
 * `drain` waits for the mails in progress; a crash loses them, and the person asks again.
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
   * @throws 400 for an invalid address, or on a server without mail; 429 if the client network requests too many
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
    const { database } = this.#services;
    const account = await findAccountByEmail(database.pool, email);
    if (!account) return;
    // Requests by strangers must not use up the limit of the address's owner, whose network is known from a session.
    const isOwners = () => isKnownNetwork(database.pool, this.#services, ip, account.id);
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
