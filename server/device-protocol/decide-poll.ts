import type { DeviceId, DeviceSessionId, NumberId, TeamId } from '#server/platform/ids/ids.ts';

/** Why a device gets the answer to stop polling (specification section 11.2). */
export type StopReason = 'unauthorized' | 'deleted' | 'taken' | 'superseded' | 'already_running';

/** The database's facts about a poll with a known token. */
export interface PollFacts {
  readonly team_id: TeamId;
  readonly number_id: NumberId;
  readonly device_id: DeviceId;
  /** The session that the poll names; null for "new". */
  readonly asked_session: DeviceSessionId | null;
  readonly number_deleted: boolean;
  /** Whether another number is verified for this phone, and this one is not. */
  readonly taken: boolean;
  /** A newer verify or reconnect of an unverified number ended this token. */
  readonly device_ended: boolean;
  readonly generation: number;
  readonly current_generation: number | null;
  readonly current_session: DeviceSessionId | null;
  readonly expires_at: Date | null;
  /** Whether a poll has named the current session: its phone got the answer that began it. */
  readonly session_used: boolean | null;
}

export type PollDecision =
  | { readonly kind: 'stop'; readonly reason: StopReason }
  | { readonly kind: 'start_session' }
  | { readonly kind: 'continue' };

/**
 * Decides a poll from the facts about its token, number and session (specification section 11.2). A device stops for
 * good if its token is unknown, or a newer phone took over. It also stops if its number was deleted or belongs to
 * another team's phone.
 *
 * A second loop on the same phone is refused while the first one lives. A session that no poll has used yet is taken
 * over instead: its first answer may never have arrived, and then nothing else would poll.
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
  if (facts.asked_session !== null) return stop('superseded');
  if (facts.session_used === false) return { kind: 'start_session' };
  const alive = facts.expires_at !== null && facts.expires_at > now;
  return alive ? stop('already_running') : { kind: 'start_session' };
}

function stop(reason: StopReason): PollDecision {
  return { kind: 'stop', reason };
}
