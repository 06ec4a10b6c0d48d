import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Account } from '#contract/account.ts';
import { emailMaxCharacters } from '#contract/member.ts';
import { nameMaxCharacters } from '#contract/team.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { type Queryable, query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { isMailEnabled } from '#server/mail/queue-mail.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { type AppError, conflict, invalid, notFound } from '#server/platform/app-error.ts';
import type { Config } from '#server/platform/config.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { type AccountId, publicId, type TeamId } from '#server/platform/ids.ts';
import { isMailAddress } from '#server/platform/mail-address.ts';

export interface AccountRow {
  readonly id: AccountId;
  readonly email: string;
  readonly normalized_email: string;
  readonly name: string;
  readonly password_hash: string | null;
  /** When a person first proved that the address belongs to them; null before (specification section 12.1). */
  readonly email_verified_at: Date | null;
  /** Device cookies set before this time are revoked (specification section 12.2). */
  readonly device_cookies_valid_from: Date | null;
  readonly created_at: Date;
}

export const accountColumns =
  'id, email, normalized_email, name, password_hash, email_verified_at, device_cookies_valid_from, created_at';

/** Inserts an account. @returns undefined if an account with this address exists */
const insertAccount = query<Omit<AccountRow, 'password_hash' | 'device_cookies_valid_from'>, AccountRow>(
  'accounts.insert',
  `INSERT INTO accounts (id, email, normalized_email, name, email_verified_at, created_at)
   VALUES (:id, :email, :normalized_email, :name, :email_verified_at, :created_at)
   ON CONFLICT (normalized_email) DO NOTHING RETURNING ${accountColumns}`,
).row;

export const findAccount = query<{ accountId: AccountId }, AccountRow>(
  'accounts.find',
  `SELECT ${accountColumns} FROM accounts WHERE id = :accountId`,
).row;
const findByNormalizedEmail = query<{ key: string }, AccountRow>(
  'accounts.find-by-email',
  `SELECT ${accountColumns} FROM accounts WHERE normalized_email = :key`,
).row;

/**
 * Locks an account for a change of its credentials or memberships. Lock order: after a team's rows, and before the
 * account's sessions and passkeys (docs/internals/locks.md).
 */
export const lockAccount = transactionQuery<{ accountId: AccountId }, AccountRow>(
  'accounts.lock',
  `SELECT ${accountColumns} FROM accounts WHERE id = :accountId FOR NO KEY UPDATE`,
).row;

/**
 * Locks an account FOR SHARE during a sign-in. So each change of credentials, which calls `lockAccount`, waits for the
 * sign-in.
 */
export const lockAccountForShare = transactionQuery<{ accountId: AccountId }, AccountRow>(
  'accounts.lock-for-share',
  `SELECT ${accountColumns} FROM accounts WHERE id = :accountId FOR SHARE`,
).row;

// The statement returns the ids of the account's teams, because their member lists show the account's name.
const setAccountName = query<
  { accountId: AccountId; name: string },
  AccountRow & { readonly team_ids: TeamId[] }
>(
  'accounts.rename',
  `UPDATE accounts SET name = :name WHERE id = :accountId
   RETURNING ${accountColumns}, ARRAY(SELECT team_id FROM members WHERE account_id = :accountId AND removed_at IS NULL) AS team_ids`,
  { changes: 'member', team: 'team_ids' },
).row;

/** Stores the hash of an account's password. @param hash argon2id in the PHC form */
export const setPasswordHash = query<{ accountId: AccountId; hash: string }>(
  'accounts.set-password',
  'UPDATE accounts SET password_hash = :hash WHERE id = :accountId',
).run;

/** Records that the account's address is verified. The caller has locked the account. */
export const setEmailVerified = transactionQuery<{ accountId: AccountId; now: Date }>(
  'accounts.set-email-verified',
  'UPDATE accounts SET email_verified_at = :now WHERE id = :accountId AND email_verified_at IS NULL',
).run;

/** Revokes all device cookies of the account. The caller has locked the account. */
export const revokeDeviceCookies = transactionQuery<{ accountId: AccountId; now: Date }>(
  'accounts.revoke-device-cookies',
  'UPDATE accounts SET device_cookies_valid_from = :now WHERE id = :accountId',
).run;

/** Removes the account's password. The caller has locked the account. */
export const removePasswordHash = transactionQuery<{ accountId: AccountId }>(
  'accounts.remove-password',
  'UPDATE accounts SET password_hash = NULL WHERE id = :accountId',
).run;

export function findAccountByEmail(db: Queryable, email: string): Promise<AccountRow | undefined> {
  return findByNormalizedEmail(db, { key: normalizeEmail(email) });
}

export function accountActor(
  { id, email }: Pick<AccountRow, 'id' | 'email'>,
  request: Pick<FastifyRequest, 'ip' | 'id'>,
): AuditActor {
  return { kind: 'account', id: publicId('acc', id), name: email, ip: request.ip, requestId: request.id };
}

export function accountView(account: AccountRow): Account {
  return {
    id: publicId('acc', account.id),
    email: account.email,
    name: account.name,
    has_password: account.password_hash !== null,
  };
}

/** User handle of a passkey (WebAuthn): the 16 bytes of the account's id, which reveal nothing about the person. */
export function userHandle(accountId: AccountId): Buffer<ArrayBuffer> {
  return Buffer.from(accountId.replaceAll('-', ''), 'hex');
}

interface NewAccount {
  readonly email: string;
  readonly name: string;
  /** argon2id hash, computed before the transaction begins. */
  readonly passwordHash: string | undefined;
  /** Whether the link that the person opened proves that the address is theirs (specification section 12.1). */
  readonly isEmailVerified: boolean;
  readonly request: Pick<FastifyRequest, 'ip' | 'id'>;
}

/**
 * Creates an account, always for a person who opened a link (specification section 12.1).
 * @throws 400 for the name or the address; 409, param email, if the address has an account
 */
export async function createAccount(trx: Transaction, services: Runtime, input: NewAccount) {
  const email = parseEmail(input.email);
  const name = parseName(input.name);
  const now = services.clock.now();
  const account = await insertAccount(trx, {
    id: services.ids.next('acc'),
    email,
    normalized_email: normalizeEmail(email),
    name,
    email_verified_at: input.isEmailVerified ? now : null,
    created_at: now,
  });
  if (!account) throw accountExistsError(email);
  if (input.passwordHash !== undefined)
    await setPasswordHash(trx, { accountId: account.id, hash: input.passwordHash });
  await recordAudit(trx, services, {
    by: accountActor(account, input.request),
    action: 'account.made',
    accountId: account.id,
    target: publicId('acc', account.id),
  });
  return account;
}

export function accountExistsError(email: string): AppError {
  return conflict(`${email} has an account already. Sign in to it first.`, 'email');
}

/** Renames an account. An undefined or unchanged name changes nothing. @throws 400, param name */
export function renameAccount(
  services: Runtime,
  accountId: AccountId,
  by: AuditActor,
  written: string | undefined,
): Promise<AccountRow> {
  const name = written === undefined ? undefined : parseName(written);
  return services.database.transaction(async (trx) => {
    const present = await lockAccount(trx, { accountId });
    if (!present) throw notFound('account');
    if (name === undefined || name === present.name) return present;
    const account = await setAccountName(trx, { accountId, name });
    await recordAudit(trx, services, {
      by,
      action: 'account.renamed',
      accountId,
      target: publicId('acc', accountId),
      details: { name },
    });
    return account ?? present;
  });
}

/** Trims and checks an address. @throws 400 with param */
export function parseEmail(text: string, param = 'email'): string {
  const email = text.trim().normalize('NFC');
  // The length limit applies to the normalized form, too, which may be longer: the lower case of İ has two characters.
  const length = Math.max(email.length, normalizeEmail(email).length);
  if (length > emailMaxCharacters || !isMailAddress(email)) {
    throw invalid(param, `${param} must be an address such as ada@example.com.`);
  }
  return email;
}

/**
 * Normalizes an address for comparison (specification section 12.1): case is ignored by changing to lower case.
 * Unicode's case folding and upper case would equate `ß` with `ss` and `ı` with `i`, which belong to different
 * mailboxes and domains.
 */
export function normalizeEmail(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

/** Checks the name of a person, a passkey, a team or a key. @throws 400, param name */
export function validateName(name: string): void {
  const { length } = [...name];
  if (length < 1 || length > nameMaxCharacters) {
    throw invalid('name', `name must have 1 to ${nameMaxCharacters} characters.`);
  }
  refuseHiddenCharacters('name', name);
}

/** Trims and checks the name of a person or of a passkey. @throws 400, param name */
export function parseName(text: string): string {
  const name = text.trim();
  validateName(name);
  return name;
}

/** Text for how a person gets a magic link: by mail, or from the operator if this server sends no mail. */
export function magicLinkHint(config: Config): string {
  return isMailEnabled(config) ? 'a link by mail' : 'a link from the operator of this server';
}

/**
 * Text for the ways to sign in without a password that this server supports. The text is the same for every account.
 */
export function otherSignInHint(config: Config): string {
  return supportsPasskeys(config.appUrl) ? `a passkey or ${magicLinkHint(config)}` : magicLinkHint(config);
}

/** Whether passkeys work with APP_URL: browsers bind them to a host name, never to an IP address. */
export function supportsPasskeys(appUrl: string): boolean {
  return isIP(new URL(appUrl).hostname.replace(/^\[|\]$/g, '')) === 0;
}
