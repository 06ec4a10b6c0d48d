import type { SignInMethod } from '#contract/account.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { AccountId } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

export interface StoredAccount {
  readonly id: AccountId;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly isEmailVerified: boolean;
  readonly teams: number;
}

/** All accounts, by their ids. */
export function storedAccounts({ query }: Service): Promise<StoredAccount[]> {
  return query<StoredAccount>(
    `SELECT id, email, name, password_hash AS "passwordHash", email_verified_at IS NOT NULL AS "isEmailVerified",
       (SELECT count(*) FROM members WHERE account_id = a.id)::int AS teams
     FROM accounts a ORDER BY id`,
  );
}

/** The only account of an address. @throws if there is none, or more than one */
export async function storedAccount(service: Service, email: string): Promise<StoredAccount> {
  const [account, another] = (await storedAccounts(service)).filter((one) => one.email === email);
  if (!account || another) throw new Error(`there is not exactly one account of ${email}`);
  return account;
}

/** Sign-in methods of an account's sessions, oldest first. */
export async function storedSessionMethods(
  { query }: Service,
  accountId: AccountId,
): Promise<SignInMethod[]> {
  const rows = await query<{ method: SignInMethod }>(
    'SELECT method FROM account_sessions WHERE account_id = $1 ORDER BY id',
    [accountId],
  );
  return rows.map(({ method }) => method);
}

/** True if there is a session with this token. */
export async function isSessionStored({ query }: Service, token: string): Promise<boolean> {
  const rows = await query('SELECT FROM account_sessions WHERE token_hash = $1', [sha256(token)]);
  return rows.length === 1;
}

export interface StoredMagicLink {
  readonly email: string;
  /** Time from creation to expiry. */
  readonly lifetimeHours: number;
  readonly isUsed: boolean;
}

/** The magic link with this token. */
export async function storedMagicLink(
  { query }: Service,
  token: string,
): Promise<StoredMagicLink | undefined> {
  const [row] = await query<StoredMagicLink>(
    `SELECT a.email, extract(epoch FROM l.expires_at - l.created_at)::float8 / 3600 AS "lifetimeHours",
       l.used_at IS NOT NULL AS "isUsed"
     FROM magic_links l JOIN accounts a ON a.id = l.account_id WHERE l.token_hash = $1`,
    [sha256(token)],
  );
  return row;
}

export interface StoredThrottleCounter {
  readonly subject: Buffer;
  readonly hits: number;
}

/** @param startedAfter leaves out windows that began earlier */
export function storedThrottleCounters(
  { query }: Service,
  startedAfter = new Date(0),
): Promise<StoredThrottleCounter[]> {
  return query<StoredThrottleCounter>('SELECT subject, hits FROM throttle_counters WHERE window_start > $1', [
    startedAfter,
  ]);
}

/** Counts of the rows that sign-ins write, of all accounts. */
export interface SignInRowCounts {
  readonly sessions: number;
  readonly magicLinks: number;
  readonly passkeyChallenges: number;
  readonly throttleCounters: number;
}

export async function countSignInRows({ query }: Service): Promise<SignInRowCounts> {
  const [counts] = await query<SignInRowCounts>(
    `SELECT (SELECT count(*) FROM account_sessions)::int AS sessions, (SELECT count(*) FROM magic_links)::int AS "magicLinks",
       (SELECT count(*) FROM passkey_challenges)::int AS "passkeyChallenges",
       (SELECT count(*) FROM throttle_counters)::int AS "throttleCounters"`,
  );
  if (!counts) throw new Error('no counts');
  return counts;
}
