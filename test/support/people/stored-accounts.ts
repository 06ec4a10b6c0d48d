import type { SignInMethod } from '#contract/account.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { AccountId } from '#server/platform/ids.ts';
import { columnBy, countBy, firstRowBy, onlyRowBy, rowsBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

interface StoredAccount {
  readonly id: AccountId;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly isEmailVerified: boolean;
  readonly teams: number;
}

/** All accounts, by their ids. */
export const storedAccounts = rowsBy<StoredAccount>(
  `SELECT id, email, name, password_hash AS "passwordHash", email_verified_at IS NOT NULL AS "isEmailVerified",
     (SELECT count(*) FROM members WHERE account_id = a.id)::int AS teams
   FROM accounts a ORDER BY id`,
);

/** The only account of an address. @throws if there is none, or more than one */
export async function storedAccount(service: Service, email: string): Promise<StoredAccount> {
  const [account, another] = (await storedAccounts(service)).filter((one) => one.email === email);
  if (!account || another) throw new Error(`there is not exactly one account of ${email}`);
  return account;
}

/** Sign-in methods of an account's sessions, oldest first. */
export const storedSessionMethods = columnBy<SignInMethod, [accountId: AccountId]>(
  'SELECT method FROM account_sessions WHERE account_id = $1 ORDER BY id',
);

/** True if there is a session with this token. */
export async function isSessionStored(service: Service, token: string): Promise<boolean> {
  return (await countSessions(service, sha256(token))) === 1;
}
const countSessions = countBy<[tokenHash: Buffer]>('SELECT FROM account_sessions WHERE token_hash = $1');

interface StoredMagicLink {
  readonly email: string;
  /** Time from creation to expiry. */
  readonly lifetimeHours: number;
  readonly isUsed: boolean;
}

/** The magic link with this token. */
export const storedMagicLink = (service: Service, token: string) => magicLinkBy(service, sha256(token));
const magicLinkBy = firstRowBy<StoredMagicLink, [tokenHash: Buffer]>(
  `SELECT a.email, extract(epoch FROM l.expires_at - l.created_at)::float8 / 3600 AS "lifetimeHours",
     l.used_at IS NOT NULL AS "isUsed"
   FROM magic_links l JOIN accounts a ON a.id = l.account_id WHERE l.token_hash = $1`,
);

interface StoredThrottleCounter {
  readonly subject: Buffer;
  readonly hits: number;
}

/** @param startedAfter leaves out windows that began earlier */
export const storedThrottleCounters = rowsBy<StoredThrottleCounter, [startedAfter?: Date]>(
  'SELECT subject, hits FROM throttle_counters WHERE $1::timestamptz IS NULL OR window_start > $1',
);

/** Counts of the rows that sign-ins write, of all accounts. */
interface SignInRowCounts {
  readonly sessions: number;
  readonly magicLinks: number;
  readonly passkeyChallenges: number;
  readonly throttleCounters: number;
}

export const countSignInRows = onlyRowBy<SignInRowCounts>(
  `SELECT (SELECT count(*) FROM account_sessions)::int AS sessions, (SELECT count(*) FROM magic_links)::int AS "magicLinks",
     (SELECT count(*) FROM passkey_challenges)::int AS "passkeyChallenges",
     (SELECT count(*) FROM throttle_counters)::int AS "throttleCounters"`,
);
