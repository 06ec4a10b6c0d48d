import { listSessions } from '#server/accounts/sessions/session-store.ts';
import type { Queryable } from '#server/database/statement.ts';
import type { AccountId } from '#server/platform/ids/ids.ts';
import { clientNetwork } from '#server/platform/network/client-network.ts';

/** An id that no account has: the look-up of an unknown address must take as long as that of a known one. */
const unknownAccountId = '00000000-0000-0000-0000-000000000000' as AccountId;

/**
 * Whether the account has a session from the client network of a request. The login throttle exempts such a network, so
 * that the owner can sign in while strangers guess passwords elsewhere (specification section 12.2).
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
