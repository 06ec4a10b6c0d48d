import type { AccountSession } from '#contract/account.ts';
import { type AccountSessionId, publicId } from '#server/platform/ids/ids.ts';
import type { AccountSessionRow } from './session-store.ts';

/** @param current the session of the request */
export function sessionView(session: AccountSessionRow, current: AccountSessionId): AccountSession {
  return {
    id: publicId('acs', session.id),
    current: session.id === current,
    method: session.method,
    ip: session.ip,
    user_agent: session.user_agent,
    created_at: session.created_at.toISOString(),
    last_used_at: session.last_used_at.toISOString(),
  };
}
