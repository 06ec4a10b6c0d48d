import { lateAfterMs, offlineAfterMs } from './limits.ts';

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
