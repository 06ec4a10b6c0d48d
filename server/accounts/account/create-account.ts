import { nameMaxCharacters } from '#contract/team.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { type AppError, conflict, invalid } from '#server/platform/app-error.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { type AccountRow, insertAccount, setPasswordHash } from './account-store.ts';
import { parseEmail } from './email.ts';

interface NewAccount {
  readonly email: string;
  readonly name: string;
  /** argon2id hash, computed before the transaction begins. */
  readonly passwordHash: string | undefined;
  /** Whether the opened link proves that the address belongs to this person (specification section 12.1). */
  readonly isEmailVerified: boolean;
  readonly ip: string;
  readonly requestId: string;
}

/**
 * Creates an account, always for a person who opened a link (specification section 12.1).
 * @throws 400 for the name or the address; 409, param email, where the address has an account
 */
export async function createAccount(
  trx: Transaction,
  services: Pick<Runtime, 'ids' | 'clock'>,
  input: NewAccount,
): Promise<AccountRow> {
  const email = parseEmail(input.email);
  const name = parseName(input.name);
  const now = services.clock.now();
  const account = await insertAccount(trx, {
    id: services.ids.next('acc'),
    email,
    name,
    email_verified_at: input.isEmailVerified ? now : null,
    created_at: now,
  });
  if (!account) throw accountExistsError(email);
  if (input.passwordHash !== undefined) await setPasswordHash(trx, account.id, input.passwordHash);
  const id = publicId('acc', account.id);
  await recordAudit(trx, services, {
    by: { kind: 'account', id, name: email, ip: input.ip, requestId: input.requestId },
    action: 'account.made',
    accountId: account.id,
    target: id,
  });
  return account;
}

export function accountExistsError(email: string): AppError {
  return conflict(`${email} has an account already. Sign in to it first.`, 'email');
}

/** Trims and checks the name of a person or of a passkey. @throws 400, param name */
export function parseName(text: string): string {
  const name = text.trim();
  const { length } = [...name];
  if (length < 1 || length > nameMaxCharacters) {
    throw invalid('name', `name must have 1 to ${nameMaxCharacters} characters.`);
  }
  refuseHiddenCharacters('name', name);
  return name;
}
