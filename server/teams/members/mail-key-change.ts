import { countInWindow } from '#server/accounts/throttling/throttle.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { isMailEnabled, queueMails } from '#server/mail/queue-mail.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { rateLimited } from '#server/platform/app-error.ts';
import { publicId } from '#server/platform/ids.ts';
import type { TeamRow } from '#server/teams/team/team.ts';
import { listEmailsOf } from './members.ts';

/** How many changes of a team's people or name its API keys may make per hour; owners get a mail about each. */
const keyChangesPerTeamAndHour = 100;

/**
 * Mails the owners that an API key changed the people or the name of the team, in the transaction of the change
 * (decision 0047). Nothing is mailed for another actor. The changes of a team are limited per hour, so that a key can’t
 * flood its owners (specification section 5.3).
 * @param deed the predicate of the sentence: `invited ada@example.com as admin`
 * @throws AppError 429 with retry-after
 */
export async function mailKeyChange(
  trx: Transaction,
  services: Runtime,
  team: TeamRow,
  by: AuditActor,
  deed: string,
): Promise<void> {
  const { config } = services;
  if (by.kind !== 'key' || !isMailEnabled(config)) return;
  const teamId = publicId('team', team.id);
  const { counts, secondsLeft } = await countInWindow(trx, services, [`key changes team ${teamId}`]);
  if ((counts[0] ?? 0) > keyChangesPerTeamAndHour) {
    throw rateLimited(secondsLeft, 'Keys of this team changed its people or its name too often in this hour');
  }
  const message = {
    subject: `An API key ${deed}`,
    heading: `An API key ${deed}`,
    paragraphs: [
      `The API key “${by.name}” of the team ${team.name} ${deed}.`,
      'If no owner expects this, first revoke the key, then undo the change in the dashboard.',
    ],
    action: { label: 'See the API keys', url: `${config.appUrl}/teams/${teamId}/keys` },
    footnote:
      'You get this because you are an owner of the team. Owners get it whenever a key changes the people or the name of the team.',
  };
  await queueMails(trx, services, await listEmailsOf(trx, team.id, 'owner'), message);
}
