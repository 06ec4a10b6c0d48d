import type { HealthCause } from '#contract/health-causes.ts';
import type { HealthState } from '#contract/number-health.ts';
import { lateAfterMs, offlineAfterMs, shortSilenceMs } from './limits.ts';

/*
 * The SQL of a number's health state, for every query that reads it (specification section 4.7). The fragments are for
 * a number n, its session s, its reported health h and the poll service p.
 */

/** SQL that joins the tables which the other SQL of this file reads. @param n the alias of the number */
export function sqlHealthSources(n = 'n'): string {
  return `LEFT JOIN device_sessions s ON s.number_id = ${n}.id
   LEFT JOIN number_health h ON h.number_id = ${n}.id
   JOIN poll_service p ON p.id`;
}

/**
 * SQL of the HealthState of a number. The silence of a number begins with the phone's last poll, or with the start of
 * the poll service if that is later. It ends with the service's last heartbeat. A number that was reported offline
 * stays offline until the next poll.
 * @param now the parameter with the time of the service
 */
export function sqlHealthState(now: string, n = 'n'): string {
  return `CASE
     WHEN ${n}.verified_at IS NULL THEN 'pending'
     WHEN s.last_seen_at >= ${now}::timestamptz - interval '${lateAfterMs} ms' THEN 'online'
     WHEN h.state = 'offline' AND s.last_seen_at <= h.last_seen_at THEN 'offline'
     WHEN p.served_until - greatest(s.last_seen_at, p.served_since) > interval '${offlineAfterMs} ms' THEN 'offline'
     ELSE 'late' END`;
}

/** SQL of the HealthState of a number, as a subquery. @param n the alias of the number */
export function sqlHealthOfNumber(n: string, now: string): string {
  return `(SELECT ${sqlHealthState(now, n)} FROM poll_service p LEFT JOIN device_sessions s ON s.number_id = ${n}.id
     LEFT JOIN number_health h ON h.number_id = ${n}.id WHERE p.id)`;
}

export interface CauseFacts {
  readonly state: HealthState;
  readonly is_simulated: boolean;
  readonly last_seen_at: Date | null;
  /** True if the phone got a message in its last poll. */
  readonly has_taken_message: boolean;
  /** True if the phone disconnected during its last poll. */
  readonly has_left: boolean;
  /** True if the latest setup link is open; null if the number has no setup link. */
  readonly link_is_open: boolean | null;
  readonly link_has_device: boolean | null;
  readonly link_has_polled: boolean | null;
}

/** The likely cause of a number's health if it is pending or offline; null otherwise. */
export function likelyCause(facts: CauseFacts, now: Date): HealthCause | null {
  if (facts.state !== 'pending' && facts.state !== 'offline') return null;
  if (facts.is_simulated) return 'simulated_not_running';
  return facts.state === 'pending' ? pendingCause(facts) : offlineCause(facts, now);
}

function pendingCause({ link_has_device, link_is_open }: CauseFacts): HealthCause {
  if (link_has_device) return 'shortcuts_not_run';
  return link_is_open ? 'setup_link_unopened' : 'setup_link_ended';
}

function offlineCause(facts: CauseFacts, now: Date): HealthCause {
  const { link_has_polled, link_is_open, link_has_device, last_seen_at: lastSeenAt } = facts;
  if (link_has_polled === false && (link_is_open || link_has_device)) return 'reconnect_unfinished';
  if (facts.has_taken_message) return 'stopped_after_message';
  if (lastSeenAt === null || now.getTime() - lastSeenAt.getTime() > shortSilenceMs)
    return 'automation_stopped';
  return facts.has_left ? 'stopped_while_waiting' : 'no_power_or_network';
}
