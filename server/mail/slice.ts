import { mailChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Job, type Slice, sweep } from '#server/database/slice.ts';
import { checkMailServer, MailHealth, registerMailMetrics } from './mail-health.ts';
import { createMailWorker, purgeMails } from './mail-worker.ts';
import { createSmtpCheck, createSmtpSender } from './smtp-sender.ts';

/** Mail, if SMTP_URL is set. Processes with the role `deliver` send it. */
export function openMail(services: Runtime) {
  const { config, logger } = services;
  const { mail } = config;
  const mailHealth = new MailHealth();
  registerMailMetrics(services, mailHealth);
  const sender: Job[] = mail
    ? [
        {
          role: 'deliver',
          wokenBy: mailChannel,
          worker: () => {
            checkMailServer(createSmtpCheck(mail), mail, mailHealth, logger);
            return createMailWorker(services, createSmtpSender(mail), mailHealth);
          },
        },
      ]
    : [];
  return {
    mailHealth,
    jobs: [...sender, sweep('maintain', 'purge mails', 3_600_000, 'expires', () => purgeMails(services))],
  } satisfies Slice & { mailHealth: MailHealth };
}
