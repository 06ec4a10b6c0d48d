import type { SignInMethod } from '#contract/account.ts';
import { type Queryable, statement } from '#server/database/statement.ts';
import type { AccountId, AccountSessionId } from '#server/platform/ids/ids.ts';

export interface AccountSessionRow {
  readonly id: AccountSessionId;
  readonly account_id: AccountId;
  readonly method: SignInMethod;
  readonly ip: string;
  readonly user_agent: string;
  readonly created_at: Date;
  readonly last_used_at: Date;
  readonly expires_at: Date;
}

export interface LiveAccountSessionRow extends AccountSessionRow {
  readonly email: string;
  /** SHA-256 of the session token. */
  readonly hash: Buffer;
}

const columns =
  's.id, s.account_id, s.method, s.ip, s.user_agent, s.created_at, s.last_used_at, s.expires_at';

const insert = statement<[AccountSessionId, AccountId, Buffer, SignInMethod, string, string, Date, Date]>(
  'account-sessions.insert',
  `INSERT INTO account_sessions AS s (id, account_id, token_hash, method, ip, user_agent, created_at, last_used_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8) RETURNING ${columns}`,
);

export const findLiveSessions = statement<[tokenHashes: readonly Buffer[], now: Date], LiveAccountSessionRow>(
  'account-sessions.find-live',
  `SELECT ${columns}, s.token_hash AS hash, a.email FROM account_sessions s JOIN accounts a ON a.id = s.account_id
   WHERE s.token_hash = ANY($1::bytea[]) AND s.expires_at > $2`,
).rows;

export const findAccountSession = statement<
  [accountId: AccountId, sessionId: AccountSessionId, now: Date],
  AccountSessionRow
>(
  'account-sessions.find',
  `SELECT ${columns} FROM account_sessions s WHERE account_id = $1 AND id = $2 AND expires_at > $3`,
).row;

export const touchAccountSession = statement<[sessionId: AccountSessionId, now: Date, expiresAt: Date]>(
  'account-sessions.touch',
  'UPDATE account_sessions s SET last_used_at = $2, expires_at = $3 WHERE id = $1',
).run;

/** Lists at most 200 sessions, the most recently used first. */
export const listSessions = statement<[accountId: AccountId, now: Date], AccountSessionRow>(
  'account-sessions.list',
  `SELECT ${columns} FROM account_sessions s WHERE account_id = $1 AND expires_at > $2
   ORDER BY last_used_at DESC, id LIMIT 200`,
).rows;

/** Ends a session. @returns false if the account has no such session */
export const endSession = statement<[accountId: AccountId, sessionId: AccountSessionId]>(
  'account-sessions.end',
  'DELETE FROM account_sessions WHERE account_id = $1 AND id = $2 RETURNING id',
).hasRow;

/** Ends the session of a token. @returns the ended session and its account; undefined if no session has this token */
export const endSessionByToken = statement<
  [tokenHash: Buffer],
  { id: AccountSessionId; account_id: AccountId }
>(
  'account-sessions.end-by-token',
  'DELETE FROM account_sessions WHERE token_hash = $1 RETURNING id, account_id',
).row;
const endAll = statement<[AccountId, AccountSessionId | null]>(
  'account-sessions.end-all',
  `DELETE FROM account_sessions WHERE id IN (
     SELECT id FROM account_sessions WHERE account_id = $1 AND id IS DISTINCT FROM $2::uuid ORDER BY id FOR UPDATE)
   RETURNING id`,
);

export async function insertAccountSession(
  db: Queryable,
  session: Omit<AccountSessionRow, 'last_used_at'> & { readonly tokenHash: Buffer },
): Promise<void> {
  await insert.run(
    db,
    session.id,
    session.account_id,
    session.tokenHash,
    session.method,
    session.ip,
    session.user_agent,
    session.created_at,
    session.expires_at,
  );
}

/**
 * Ends the sessions of an account, locked in the order of their ids.
 * @param exceptId the session that does not end
 * @returns the number of ended sessions
 */
export async function endSessions(
  db: Queryable,
  accountId: AccountId,
  exceptId?: AccountSessionId,
): Promise<number> {
  return endAll.count(db, accountId, exceptId ?? null);
}
