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

const insert = statement<AccountSessionRow>(
  'account-sessions.insert',
  `INSERT INTO account_sessions AS s (id, account_id, token_hash, method, ip, user_agent, created_at, last_used_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8) RETURNING ${columns}`,
);
const findLive = statement<LiveAccountSessionRow>(
  'account-sessions.find-live',
  `SELECT ${columns}, s.token_hash AS hash, a.email FROM account_sessions s JOIN accounts a ON a.id = s.account_id
   WHERE s.token_hash = ANY($1::bytea[]) AND s.expires_at > $2`,
);
const find = statement<AccountSessionRow>(
  'account-sessions.find',
  `SELECT ${columns} FROM account_sessions s WHERE account_id = $1 AND id = $2 AND expires_at > $3`,
);
const touch = statement<AccountSessionRow>(
  'account-sessions.touch',
  'UPDATE account_sessions s SET last_used_at = $2, expires_at = $3 WHERE id = $1',
);
const list = statement<AccountSessionRow>(
  'account-sessions.list',
  `SELECT ${columns} FROM account_sessions s WHERE account_id = $1 AND expires_at > $2
   ORDER BY last_used_at DESC, id LIMIT 200`,
);
const end = statement<{ id: AccountSessionId }>(
  'account-sessions.end',
  'DELETE FROM account_sessions WHERE account_id = $1 AND id = $2 RETURNING id',
);
const endByToken = statement<{ id: AccountSessionId; account_id: AccountId }>(
  'account-sessions.end-by-token',
  'DELETE FROM account_sessions WHERE token_hash = $1 RETURNING id, account_id',
);
const endAll = statement<{ id: AccountSessionId }>(
  'account-sessions.end-all',
  `DELETE FROM account_sessions WHERE id IN (
     SELECT id FROM account_sessions WHERE account_id = $1 AND id IS DISTINCT FROM $2::uuid ORDER BY id FOR UPDATE)
   RETURNING id`,
);
const purge = statement<Record<string, never>>(
  'account-sessions.purge',
  'DELETE FROM account_sessions WHERE expires_at <= $1',
);

export async function insertAccountSession(
  db: Queryable,
  session: Omit<AccountSessionRow, 'last_used_at'> & { readonly tokenHash: Buffer },
): Promise<void> {
  await insert.row(
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

export function findLiveSessions(
  db: Queryable,
  tokenHashes: readonly Buffer[],
  now: Date,
): Promise<LiveAccountSessionRow[]> {
  return findLive.rows(db, tokenHashes, now);
}

export function findAccountSession(
  db: Queryable,
  accountId: AccountId,
  sessionId: AccountSessionId,
  now: Date,
): Promise<AccountSessionRow | undefined> {
  return find.row(db, accountId, sessionId, now);
}

export async function touchAccountSession(
  db: Queryable,
  sessionId: AccountSessionId,
  now: Date,
  expiresAt: Date,
): Promise<void> {
  await touch.row(db, sessionId, now, expiresAt);
}

/** Lists at most 200 sessions, the most recently used first. */
export function listSessions(db: Queryable, accountId: AccountId, now: Date): Promise<AccountSessionRow[]> {
  return list.rows(db, accountId, now);
}

/** @returns false where the account has no such session */
export async function endSession(
  db: Queryable,
  accountId: AccountId,
  sessionId: AccountSessionId,
): Promise<boolean> {
  return (await end.row(db, accountId, sessionId)) !== undefined;
}

/** @returns the ended session and its account; undefined where no session has this token */
export function endSessionByToken(
  db: Queryable,
  tokenHash: Buffer,
): Promise<{ readonly id: AccountSessionId; readonly account_id: AccountId } | undefined> {
  return endByToken.row(db, tokenHash);
}

/**
 * Ends the sessions of an account, locked in the order of their ids.
 * @param but the session that does not end
 * @returns the number of ended sessions
 */
export async function endSessions(
  db: Queryable,
  accountId: AccountId,
  but?: AccountSessionId,
): Promise<number> {
  return (await endAll.rows(db, accountId, but ?? null)).length;
}

export async function purgeExpiredSessions(db: Queryable, now: Date): Promise<void> {
  await purge.row(db, now);
}
