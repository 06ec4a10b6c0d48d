import { useQuery } from '@tanstack/react-query';
import type { AccountSession } from '#contract/account.ts';
import { nowMs } from '#web/kit/clock.ts';
import { sessionsQuery } from './account-queries.ts';

/** A sign-in is recent for 15 minutes (specification section 12.2), minus one minute for the time of the request. */
const recentMs = 14 * 60_000;

/** The session of this browser, and whether it is so recent that the server asks for no password. */
export function useRecentSignIn(): {
  readonly isRecent: boolean;
  readonly session: AccountSession | undefined;
} {
  const { data } = useQuery(sessionsQuery);
  const session = data?.sessions.find(({ current }) => current);
  const isRecent = session !== undefined && nowMs() - Date.parse(session.created_at) < recentMs;
  return { isRecent, session };
}
