import type { Queryable } from '#server/database/statement.ts';
import type { AccountId } from '#server/platform/ids.ts';
import { sourceOf } from '#server/platform/source-of.ts';
import { listSessions } from './session-store.ts';

/** Whom no session belongs to: for an unknown address the same is looked up, so that it costs the same. */
const nobody = '00000000-0000-0000-0000-000000000000' as AccountId;

/**
 * Whether an account is signed in from where a request comes from: there its owner goes on signing in, whoever else
 * guesses or asks for links elsewhere (specification section 12.2).
 */
export async function isOwnSource(
  db: Queryable,
  accountId: AccountId | undefined,
  ip: string,
  now: Date,
): Promise<boolean> {
  const sessions = await listSessions(db, accountId ?? nobody, now);
  return sessions.some((session) => sourceOf(session.ip) === sourceOf(ip));
}
