import { listSessions } from '#server/accounts/sessions/session-store.ts';
import type { Queryable } from '#server/database/statement.ts';
import type { AccountId } from '#server/platform/ids/ids.ts';
import { clientNetwork } from '#server/platform/network/client-network.ts';

/** Whom no session belongs to: for an unknown address the same is looked up, so that it costs the same. */
const unknownAccountId = '00000000-0000-0000-0000-000000000000' as AccountId;

/**
 * Whether an account is signed in from where a request comes from: there its owner goes on signing in, whoever else
 * guesses or asks for links elsewhere (specification section 12.2).
 */
export async function isKnownNetwork(
  db: Queryable,
  accountId: AccountId | undefined,
  ip: string,
  now: Date,
): Promise<boolean> {
  const sessions = await listSessions(db, accountId ?? unknownAccountId, now);
  return sessions.some((session) => clientNetwork(session.ip) === clientNetwork(ip));
}
