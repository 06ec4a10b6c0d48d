import type { FastifyRequest } from 'fastify';
import type { SignInMethod } from '#contract/account.ts';
import { accountActor } from '#server/accounts/account/account.ts';
import type { AccountRow } from '#server/accounts/account/account-store.ts';
import { sessionIdleDays } from '#server/accounts/limits.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { randomToken, sha256 } from '#server/platform/crypto.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { DeviceCookie, SessionCookie } from './cookies.ts';
import { endSessionByToken, insertAccountSession } from './session-store.ts';

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
  const sessionCookie = new SessionCookie(config);
  await endPreviousSession(db, services, sessionCookie.read(request), by);
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
  return [sessionCookie.set(token), new DeviceCookie(services).set(account)];
}

/**
 * Ends the session whose cookie the browser sent, even if it belongs to another account. So a stolen copy of the cookie
 * becomes useless.
 */
async function endPreviousSession(
  db: Queryable,
  services: Runtime,
  token: string | undefined,
  by: AuditActor,
): Promise<void> {
  const previous =
    token === undefined ? undefined : await endSessionByToken(db, { tokenHash: sha256(token) });
  if (!previous) return;
  await recordAudit(db, services, {
    by,
    action: 'account.signed_out',
    accountId: previous.account_id,
    target: publicId('acs', previous.id),
  });
}
