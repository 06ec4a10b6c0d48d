import type { FastifyRequest } from 'fastify';
import type { SignInMethod } from '#contract/account.ts';
import { type AccountRow, accountActor } from '#server/accounts/account/account.ts';
import { sessionIdleDays } from '#server/accounts/limits.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { type Queryable, query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { randomToken, sha256 } from '#server/platform/crypto.ts';
import { type AccountId, type AccountSessionId, publicId } from '#server/platform/ids.ts';
import { DeviceCookie, sessionCookie } from './cookies.ts';

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

const insertAccountSession = query<Omit<AccountSessionRow, 'last_used_at'> & { token_hash: Buffer }>(
  'account-sessions.insert',
  `INSERT INTO account_sessions AS s (id, account_id, token_hash, method, ip, user_agent, created_at, last_used_at, expires_at)
   VALUES (:id, :account_id, :token_hash, :method, :ip, :user_agent, :created_at, :created_at, :expires_at)
   RETURNING ${columns}`,
).run;

export const findLiveSessions = query<{ tokenHashes: readonly Buffer[]; now: Date }, LiveAccountSessionRow>(
  'account-sessions.find-live',
  `SELECT ${columns}, s.token_hash AS hash, a.email FROM account_sessions s JOIN accounts a ON a.id = s.account_id
   WHERE s.token_hash = ANY(:tokenHashes::bytea[]) AND s.expires_at > :now`,
).rows;

interface SessionIds {
  readonly accountId: AccountId;
  readonly sessionId: AccountSessionId;
}

export const findAccountSession = query<SessionIds & { now: Date }, AccountSessionRow>(
  'account-sessions.find',
  `SELECT ${columns} FROM account_sessions s WHERE account_id = :accountId AND id = :sessionId AND expires_at > :now`,
).row;

export const touchAccountSession = query<{ sessionId: AccountSessionId; now: Date; expiresAt: Date }>(
  'account-sessions.touch',
  'UPDATE account_sessions s SET last_used_at = :now, expires_at = :expiresAt WHERE id = :sessionId',
).run;

/** Lists at most 200 sessions, the most recently used first. */
export const listSessions = query<{ accountId: AccountId; now: Date }, AccountSessionRow>(
  'account-sessions.list',
  `SELECT ${columns} FROM account_sessions s WHERE account_id = :accountId AND expires_at > :now
   ORDER BY last_used_at DESC, id LIMIT 200`,
).rows;

/** Ends a session. @returns false if the account has no such session */
export const endSession = query<SessionIds>(
  'account-sessions.end',
  'DELETE FROM account_sessions WHERE account_id = :accountId AND id = :sessionId RETURNING id',
).hasRow;

/** Ends the session of a token. @returns the ended session and its account; undefined if no session has this token */
const endSessionByToken = query<{ tokenHash: Buffer }, { id: AccountSessionId; account_id: AccountId }>(
  'account-sessions.end-by-token',
  'DELETE FROM account_sessions WHERE token_hash = :tokenHash RETURNING id, account_id',
).row;

/**
 * Ends all sessions of an account except `exceptId`, which may be null. The rows are locked in the order of their ids.
 * @returns the number of ended sessions
 */
export const endSessions = query<{ accountId: AccountId; exceptId: AccountSessionId | null }>(
  'account-sessions.end-all',
  `DELETE FROM account_sessions WHERE id IN (
     SELECT id FROM account_sessions WHERE account_id = :accountId AND id IS DISTINCT FROM :exceptId::uuid ORDER BY id FOR UPDATE)
   RETURNING id`,
).count;

export interface SignInResult {
  readonly account: AccountRow;
  /** Values of the set-cookie headers. */
  readonly cookies: string[];
}

/** The parts of a request that a sign-in uses. */
export type ClientInfo = Pick<FastifyRequest, 'ip' | 'id' | 'headers'>;

const userAgentMaxCharacters = 300;

/**
 * Signs an account in: creates a session with a new token, and ends the browser's earlier session (section 12.2). Only
 * the token's hash is stored.
 * @returns the set-cookie headers of the session cookie and the device cookie
 */
export async function createAccountSession(
  db: Queryable,
  services: Runtime,
  account: Pick<AccountRow, 'id' | 'email'>,
  method: SignInMethod,
  request: ClientInfo,
): Promise<string[]> {
  const { ids, clock, config } = services;
  const by = accountActor(account, request);
  const cookie = sessionCookie(config);
  // Ends the session of the browser's cookie, even another account's, so that a stolen copy of it becomes useless.
  const previousToken = cookie.read(request);
  const previous = previousToken && (await endSessionByToken(db, { tokenHash: sha256(previousToken) }));
  if (previous) {
    const { id, account_id: accountId } = previous;
    await recordAudit(db, services, {
      by,
      action: 'account.signed_out',
      accountId,
      target: publicId('acs', id),
    });
  }
  const token = randomToken();
  const now = clock.now();
  await insertAccountSession(db, {
    id: ids.next('acs'),
    account_id: account.id,
    token_hash: sha256(token),
    method,
    ip: request.ip,
    user_agent: (request.headers['user-agent'] ?? '').slice(0, userAgentMaxCharacters),
    created_at: now,
    expires_at: clock.in(sessionIdleDays * 86_400_000, now),
  });
  const accountId = account.id;
  await recordAudit(db, services, { by, action: 'account.signed_in', accountId, details: { method } });
  return [cookie.set(token), new DeviceCookie(services).set(account)];
}
