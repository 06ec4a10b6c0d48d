import { homeNumberCountMax } from '#contract/home.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { appendEvents } from '#server/events/append-events.ts';
import { isMailEnabled, queueMails } from '#server/mail/queue-mail.ts';
import { type NumberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { listEmailsOf } from '#server/teams/members/members.ts';
import { findTeam } from '#server/teams/team/team.ts';
import { healthMails } from './health-mails.ts';
import { healthMailDelayMs, offlineMailIntervalMs, queuedCountMax } from './limits.ts';
import { sqlHealthSources, sqlHealthState } from './number-health.ts';
import { listNumberFacts } from './number-store.ts';

/** Teams that one round handles; the next round continues. */
const roundTeamsMax = 500;

/** A number that went offline or came back, with the fields of its event. */
interface HealthChangeRow {
  readonly id: NumberId;
  readonly phone_number: string;
  readonly label: string;
  readonly state: 'online' | 'offline';
  readonly sequence: number;
  readonly last_seen_at: Date;
  readonly queued: number;
}

type Round = { readonly now: Date; readonly limit: number };
type OfTeam = { readonly now: Date; readonly teamId: TeamId };

// Verified numbers whose health differs from the reported one. A number without a session never had a phone, so it
// can't be silent.
const watched = `FROM numbers n ${sqlHealthSources()}
   WHERE n.verified_at IS NOT NULL AND n.deleted_at IS NULL AND s.last_seen_at IS NOT NULL
     AND (${sqlHealthState(':now')} = 'offline') <> (coalesce(h.state, 'online') = 'offline')`;

/** Lists teams with a number that went offline or came back since the last report; at most `limit`. */
const listTeamsWithHealthChanges = query<Round, { team_id: TeamId }>(
  'numbers.list-teams-with-health-changes',
  `SELECT DISTINCT n.team_id ${watched} LIMIT :limit`,
).rows;

/**
 * Records the health changes of a team's numbers. The row lock orders a change with the deletion of its number. A second
 * process finds the new state recorded, and reports nothing.
 */
const recordHealthChanges = transactionQuery<OfTeam, HealthChangeRow>(
  'numbers.record-health-changes',
  `WITH found AS MATERIALIZED (
     SELECT n.team_id, n.id, s.last_seen_at, CASE WHEN h.state = 'offline' THEN 'online' ELSE 'offline' END AS state
     ${watched} AND n.team_id = :teamId ORDER BY n.id FOR SHARE OF n
   ), changed AS (
     INSERT INTO number_health AS h (number_id, team_id, state, since, last_seen_at, sequence)
     SELECT id, team_id, state, :now, last_seen_at, 1 FROM found
     ON CONFLICT (number_id) DO UPDATE SET state = excluded.state, since = excluded.since,
       last_seen_at = excluded.last_seen_at, sequence = h.sequence + 1
     WHERE h.state <> excluded.state
     RETURNING h.number_id, h.state, h.sequence, h.last_seen_at
   )
   SELECT n.id, n.phone_number, n.label, c.state, c.sequence, c.last_seen_at,
     (SELECT count(*) FROM (SELECT FROM send_queue q WHERE q.number_id = n.id LIMIT ${queuedCountMax}) q) AS queued
   FROM changed c JOIN numbers n ON n.id = c.number_id AND n.team_id = :teamId ORDER BY n.id`,
  { changes: 'number', team: ':teamId', ids: 'id' },
).rows;

// Numbers whose health change is due in a mail. A paused number may be silent on purpose, and a simulated number has no
// iPhone: no mail names either. A number with an unreported change waits for its report.
const unmailed = `FROM number_health h
   JOIN numbers n ON n.team_id = h.team_id AND n.id = h.number_id
   JOIN device_sessions s ON s.number_id = h.number_id
   JOIN poll_service p ON p.id
   WHERE h.state <> h.mailed_state AND n.deleted_at IS NULL AND NOT n.is_simulated
     AND (${sqlHealthState(':now')} = 'offline') = (h.state = 'offline')
     AND (h.state = 'online'
       OR n.status = 'active' AND coalesce(h.offline_mailed_at <= :now::timestamptz - interval '${offlineMailIntervalMs} ms', true))`;
const isDue = `h.since <= :now::timestamptz - interval '${healthMailDelayMs} ms'`;

/** Lists teams whose owners and admins have to get a mail about numbers; at most `limit`. */
const listTeamsToMail = query<Round, { team_id: TeamId }>(
  'numbers.list-teams-to-mail-health',
  `SELECT DISTINCT h.team_id ${unmailed} AND ${isDue} LIMIT :limit`,
).rows;

/** Marks the numbers that one mail names with the state it reports. @returns these numbers; none if no mail is due */
const markHealthMailed = transactionQuery<OfTeam, { number_id: NumberId; state: 'online' | 'offline' }>(
  'numbers.mark-health-mailed',
  `WITH unmailed AS MATERIALIZED (
     SELECT h.number_id, ${isDue} AS is_due ${unmailed} AND h.team_id = :teamId ORDER BY h.number_id FOR UPDATE OF h
   )
   UPDATE number_health h SET mailed_state = h.state,
     offline_mailed_at = CASE WHEN h.state = 'offline' THEN :now ELSE h.offline_mailed_at END
   FROM unmailed u WHERE h.number_id = u.number_id AND (SELECT bool_or(is_due) FROM unmailed)
   RETURNING h.number_id, h.state`,
).rows;

/**
 * Watches the health of all numbers (specification section 4.7). Each change commits with its event, once for all
 * processes. The mail follows a minute later, in a separate transaction that marks the numbers in the mail.
 */
export async function watchNumbers(services: Runtime): Promise<void> {
  const { database, clock, config } = services;
  const changed = await listTeamsWithHealthChanges(database.pool, { now: clock.now(), limit: roundTeamsMax });
  await eachTeam(services, changed, reportChanges);
  if (!isMailEnabled(config)) return;
  const due = await listTeamsToMail(database.pool, { now: clock.now(), limit: roundTeamsMax });
  await eachTeam(services, due, mailChanges);
}

type TeamWork = (trx: Transaction, services: Runtime, teamId: TeamId) => Promise<void>;

/** Runs work for each team. A failure does not delay the other teams; the next round tries the failed one again. */
async function eachTeam(
  services: Runtime,
  teams: readonly { readonly team_id: TeamId }[],
  work: TeamWork,
): Promise<void> {
  for (const { team_id: teamId } of teams) {
    try {
      await services.database.transaction((trx) => work(trx, services, teamId));
    } catch (error) {
      services.logger.error(
        { err: error, teamId: publicId('team', teamId) },
        'reporting that iPhones went offline or came back failed; it is tried again',
      );
    }
  }
}

/** Records the numbers that went offline or came back, with their events. */
const reportChanges: TeamWork = async (trx, services, teamId) => {
  const changes = await recordHealthChanges(trx, { now: services.clock.now(), teamId });
  const events = changes.map((number) => ({
    type: `number.${number.state}` as const,
    teamId,
    numberId: number.id,
    sequence: number.sequence,
    data: {
      id: publicId('num', number.id),
      phone_number: number.phone_number,
      label: number.label,
      last_seen_at: number.last_seen_at.toISOString(),
      queued: number.queued,
    },
  }));
  await appendEvents(trx, services, events);
};

const mailChanges: TeamWork = async (trx, services, teamId) => {
  const now = services.clock.now();
  const marked = await markHealthMailed(trx, { now, teamId });
  if (marked.length === 0) return;
  const states = new Map(marked.map(({ number_id, state }) => [number_id, state]));
  const asked = { teamId, now, waitingMax: homeNumberCountMax, numberIds: [...states.keys()] };
  const facts = await listNumberFacts(trx, asked);
  const team = await findTeam(trx, { teamId });
  const messages = healthMails({
    team: {
      name: team?.name ?? '',
      page: `${services.config.appUrl}/teams/${publicId('team', teamId)}/numbers`,
    },
    offline: facts.filter(({ id }) => states.get(id) === 'offline'),
    online: facts.filter(({ id }) => states.get(id) === 'online'),
    queueExpiryMs: services.config.queueExpiryMs,
    now,
  });
  await queueMails(trx, services, await listEmailsOf(trx, teamId, 'owner', 'admin'), ...messages);
};
