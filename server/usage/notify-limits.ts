import type { Runtime } from '#server/database/runtime.ts';
import type { MailContent } from '#server/mail/mail-template.ts';
import { queueMail } from '#server/mail/queue-mail.ts';
import { monthOf, nextMonthOf } from '#server/platform/calendar.ts';
import { listMembers } from '#server/teams/member-store.ts';
import { insertNotice, listTeamsNearLimit, type NearLimitRow } from './notice-store.ts';

/**
 * Tells owners and admins of a team that 80 % or 100 % of the month's limit are used (specification section 12.7): once
 * each, whatever number of processes look, because the notice is a row with a key of its own, in the transaction that
 * queues the mails.
 */
export async function notifyLimits(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'>,
): Promise<void> {
  const { database, clock } = services;
  const now = clock.now();
  const month = monthOf(now);
  for (const near of await listTeamsNearLimit(database.pool, month)) {
    await database.transaction(async (trx) => {
      // Both at once: the higher one says it all, and the lower one counts as told.
      const percents = near.percent === 100 ? ([80, 100] as const) : ([80] as const);
      let isNew = false;
      for (const percent of percents) {
        isNew = await insertNotice(trx, { teamId: near.team_id, month, percent, at: now });
      }
      if (!isNew) return;
      const message = noticeMessage(near, services.config.appUrl, nextMonthOf(now));
      for (const { role, email } of await listMembers(trx, near.team_id)) {
        if (role === 'owner' || role === 'admin') await queueMail(trx, services, { to: email, message });
      }
    });
  }
}

function noticeMessage(near: NearLimitRow, appUrl: string, resetsAt: Date): MailContent {
  const { team_name: team, percent, accepted, monthly_message_limit: limit } = near;
  const until = resetsAt.toISOString().slice(0, 10);
  const isFull = percent === 100;
  return {
    subject: isFull
      ? `${team} has used all messages of this month`
      : `${team} has used ${percent} % of this month`,
    heading: isFull ? 'No messages left this month' : `${percent} % of this month's messages are used`,
    paragraphs: [
      `The team ${team} has used ${accepted} of the ${limit} messages that it may send this month.`,
      isFull
        ? `Further ones are refused until ${until} (UTC), or until the limit is raised. What was accepted is still sent, and replies still come in.`
        : `Once all are used, further ones are refused until ${until} (UTC).`,
    ],
    action: { label: 'See the usage', url: `${appUrl}/billing` },
    footnote:
      'You get this because you are an owner or an admin of the team. It is sent once a month at most.',
  };
}
