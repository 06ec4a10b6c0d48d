import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { MailContent } from '#server/mail/mail-template.ts';
import { isMailEnabled, queueMails } from '#server/mail/queue-mail.ts';
import { firstIdAt, type TeamId } from '#server/platform/ids.ts';
import { countText } from '#server/platform/text.ts';
import { dayForPeople, monthOf, startOfNextMonth } from '#server/platform/time/calendar.ts';
import { listEmailsOf } from '#server/teams/members/members.ts';

const pageTeams = 500;

interface NearLimitRow {
  readonly team_id: TeamId;
  readonly team_name: string;
  readonly percent: 80 | 100;
  readonly accepted: number;
  readonly monthly_message_limit: number;
}

/** Lists teams, by id, that have used 80 % or 100 % of a month's limit and have got no notice of it yet. */
const listTeamsToNotify = query<{ month: string; after: string; limit: number }, NearLimitRow>(
  'usage.list-near-limit',
  `SELECT u.team_id, t.name AS team_name, near.percent, u.accepted, t.monthly_message_limit
   FROM usage_months u JOIN teams t ON t.id = u.team_id
   CROSS JOIN LATERAL (
     SELECT CASE WHEN u.accepted >= t.monthly_message_limit THEN 100 ELSE 80 END AS percent
   ) near
   WHERE u.month = :month AND u.team_id > :after AND t.monthly_message_limit > 0 AND u.accepted * 100 >= t.monthly_message_limit * 80
     AND NOT EXISTS (
       SELECT FROM usage_notices n WHERE n.team_id = u.team_id AND n.month = u.month AND n.percent >= near.percent
     )
   ORDER BY u.team_id LIMIT :limit`,
).rows;

/** Inserts a usage notice. @returns false if the team has this notice already */
const insertNotice = transactionQuery<{ teamId: TeamId; month: string; percent: 80 | 100; at: Date }>(
  'usage.insert-notice',
  `INSERT INTO usage_notices (team_id, month, percent, created_at) VALUES (:teamId, :month, :percent, :at)
   ON CONFLICT DO NOTHING RETURNING percent`,
  { changes: 'usage', team: ':teamId' },
).hasRow;

/**
 * Mails owners and admins of a team that 80 % or 100 % of the month's limit are used. A
 * unique row, written in the transaction that queues the mails, makes any number of processes send each notice once.
 */
export async function notifyUsageLimits(services: Runtime): Promise<void> {
  const { database, clock, logger } = services;
  const now = clock.now();
  for await (const near of teamsNearLimit(database, now)) {
    try {
      await database.transaction((trx) => notify(trx, services, near, now));
    } catch (error) {
      // A failure does not delay the other teams; the next round tries again.
      logger.error({ err: error }, 'sending a usage notice to a team failed');
    }
  }
}

/** Reads page by page, because a team without recipients stays in the list and must not block later teams. */
async function* teamsNearLimit({ pool }: Runtime['database'], now: Date): AsyncGenerator<NearLimitRow> {
  let page: NearLimitRow[];
  let after = firstIdAt(0);
  do {
    page = await listTeamsToNotify(pool, { month: monthOf(now), after, limit: pageTeams });
    yield* page;
    after = page.at(-1)?.team_id ?? after;
  } while (page.length === pageTeams);
}

async function notify(trx: Transaction, services: Runtime, near: NearLimitRow, now: Date): Promise<void> {
  const recipients = await listEmailsOf(trx, near.team_id, 'owner', 'admin');
  // A team without owners and admins gets the notice later, once it has an owner or admin.
  if (recipients.length === 0 && isMailEnabled(services.config)) return;
  // A notice at 100 % is also recorded as the notice at 80 %, so that only one mail is sent.
  const percents = near.percent === 100 ? ([80, 100] as const) : ([80] as const);
  let isNew = false;
  for (const percent of percents) {
    isNew = await insertNotice(trx, { teamId: near.team_id, month: monthOf(now), percent, at: now });
  }
  if (!isNew) return;
  const message = noticeMessage(near, services.config.appUrl, startOfNextMonth(now));
  await queueMails(trx, services, recipients, message);
}

function noticeMessage(near: NearLimitRow, appUrl: string, resetsAt: Date): MailContent {
  const { team_name: team, percent, accepted, monthly_message_limit: limit } = near;
  const until = dayForPeople(resetsAt);
  const isFull = percent === 100;
  return {
    subject: isFull
      ? `${team} has used all messages of this month`
      : `${team} has used ${percent} % of this month`,
    heading: isFull ? 'No messages left this month' : `${percent} % of this month's messages are used`,
    paragraphs: [
      `The team ${team} may send ${countText(limit, 'message')} this month, and has used ${accepted.toLocaleString('en')}.`,
      isFull
        ? `Further ones are refused until ${until} (UTC), or until the limit is raised. Accepted messages are still sent, and replies still come in.`
        : `Once all are used, further ones are refused until ${until} (UTC).`,
    ],
    action: { label: 'See the usage', url: `${appUrl}/billing` },
    footnote:
      'You get this because you are an owner or an admin of the team. Once a month it is sent at 80 %, and once when all are used.',
  };
}
