import type { FastifyRequest } from 'fastify';
import type { Account } from '#contract/account.ts';
import { nameMaxCharacters } from '#contract/team.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { type AppError, conflict, invalid, notFound } from '#server/platform/app-error.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { type AccountId, publicId } from '#server/platform/ids/ids.ts';
import {
  type AccountRow,
  insertAccount,
  lockAccount,
  setAccountName,
  setPasswordHash,
} from './account-store.ts';
import { normalizeEmail, parseEmail } from './email.ts';

/** The audit actor of an account during its sign-in. */
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
  /** Whether the opened link proves that the address belongs to this person (specification section 12.1). */
  readonly isEmailVerified: boolean;
  readonly request: Pick<FastifyRequest, 'ip' | 'id'>;
}

/**
 * Creates an account, always for a person who opened a link (specification section 12.1).
 * @throws 400 for the name or the address; 409, param email, where the address has an account
 */
export async function createAccount(
  trx: Transaction,
  services: Runtime,
  input: NewAccount,
): Promise<AccountRow> {
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
  if (input.passwordHash !== undefined) await setPasswordHash(trx, account.id, input.passwordHash);
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

/** Renames an account. An undefined or unchanged name changes nothing. @throws 400, param name */
export function renameAccount(
  services: Runtime,
  accountId: AccountId,
  by: AuditActor,
  written: string | undefined,
): Promise<AccountRow> {
  const name = written === undefined ? undefined : parseName(written);
  return services.database.transaction(async (trx) => {
    const present = await lockAccount(trx, accountId);
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
