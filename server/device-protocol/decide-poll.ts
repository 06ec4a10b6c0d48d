import {
  type DeviceId,
  type DeviceSessionId,
  type NumberId,
  type TeamId,
  timeOfId,
} from '#server/platform/ids.ts';
import { sessionAheadMaxMs } from './limits.ts';

/** Why the answer tells a device to stop polling (specification section 11.2). */
export type StopReason = 'unauthorized' | 'deleted' | 'taken' | 'superseded' | 'already_running';

/** The facts that the database has about a poll with a known token. */
export interface PollFacts {
  readonly team_id: TeamId;
  readonly number_id: NumberId;
  readonly device_id: DeviceId;
  /** The session id that the poll sends; null if the phone asks for a new session. */
  readonly asked_session: DeviceSessionId | null;
  readonly number_deleted: boolean;
  /** True if the phone number is verified by another team, and not by the team of this token. */
  readonly taken: boolean;
  /** True if a newer verify or reconnect of an unverified number ended the device's token. */
  readonly device_ended: boolean;
  readonly generation: number;
  readonly current_generation: number | null;
  readonly current_session: DeviceSessionId | null;
  readonly expires_at: Date | null;
  /** True once a poll has named the current session, which proves that the phone got the session's first answer. */
  readonly session_used: boolean | null;
}

export type PollDecision =
  | { readonly kind: 'stop'; readonly reason: StopReason }
  | { readonly kind: 'start_session' }
  | { readonly kind: 'continue' };

/**
 * Decides a poll from the facts about its token, number and session (specification section 11.2). A device stops for
 * good if its token is unknown, a newer phone took over, or its number was deleted or verified by another team.
 * A second run of the shortcut on the same phone is refused while the first run's session lives. If no poll has named
 * that session, its first answer may have been lost, and no run polls. So the new session replaces it.
 * A session newer than the current one was started after the backup from which the database was restored. Its phone
 * gets a new session, and goes on.
 */
export function decidePoll(facts: PollFacts | undefined, now: Date): PollDecision {
  if (!facts) return stop('unauthorized');
  if (facts.number_deleted) return stop('deleted');
  if (facts.taken) return stop('taken');
  if (facts.device_ended) return stop('superseded');
  if (facts.current_generation === null) return { kind: 'start_session' };
  if (facts.generation < facts.current_generation) return stop('superseded');
  if (facts.generation > facts.current_generation) return { kind: 'start_session' };
  if (facts.asked_session === facts.current_session) return { kind: 'continue' };
  if (isAfterBackup(facts.asked_session, facts.current_session, now)) return { kind: 'start_session' };
  if (facts.asked_session !== null) return stop('superseded');
  if (facts.session_used === false) return { kind: 'start_session' };
  const alive = facts.expires_at !== null && facts.expires_at > now;
  return alive ? stop('already_running') : { kind: 'start_session' };
}

/**
 * Session ids grow with each session of a number (device-session.ts). So a phone has a newer id than the current session
 * only after a restore.
 */
function isAfterBackup(asked: DeviceSessionId | null, current: DeviceSessionId | null, now: Date): boolean {
  if (asked === null || current === null || asked <= current) return false;
  return timeOfId(asked).getTime() <= now.getTime() + sessionAheadMaxMs;
}

function stop(reason: StopReason): PollDecision {
  return { kind: 'stop', reason };
}
