import { hostname } from 'node:os';
import type { BackupRun } from '#server/database/backup/backups-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { MailContent } from '#server/mail/mail-template.ts';
import { queueMails } from '#server/mail/queue-mail.ts';
import { listEmailsOf } from '#server/teams/members/member-store.ts';
import { listTeams } from '#server/teams/team/team-store.ts';

const footnote =
  'You get this because you run this server. It is sent once when backups begin to fail, and once when they work again.';

export async function mailBackupFailed(trx: Transaction, services: Runtime, run: BackupRun): Promise<void> {
  await mailOperators(trx, services, {
    subject: 'Ownline: the nightly backup failed',
    heading: 'The nightly backup failed',
    paragraphs: [
      `The server ${hostname()} could not write its backup: ${run.error}`,
      'It tries again every 30 minutes. Until it succeeds there is no newer backup than the last one in BACKUP_DIR.',
    ],
    footnote,
  });
}

export async function mailBackupWorksAgain(
  trx: Transaction,
  services: Runtime,
  run: BackupRun,
): Promise<void> {
  await mailOperators(trx, services, {
    subject: 'Ownline: the nightly backup works again',
    heading: 'The nightly backup works again',
    paragraphs: [`The server ${hostname()} wrote its backup and read it back: ${run.file}`],
    footnote,
  });
}

/** Queues a mail to the addresses of OPERATOR_EMAIL; without that setting, to the owners of the oldest team. */
async function mailOperators(trx: Transaction, services: Runtime, message: MailContent): Promise<void> {
  const { operatorEmails } = services.config;
  const [team] = operatorEmails.length > 0 ? [] : await listTeams(trx);
  const recipients = team ? await listEmailsOf(trx, team.id, 'owner') : operatorEmails;
  await queueMails(trx, services, recipients, message);
}
