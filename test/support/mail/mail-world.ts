import { pino } from 'pino';
import { MailHealth } from '#server/mail/mail-health.ts';
import { createMailWorker } from '#server/mail/mail-worker.ts';
import { queueMail } from '#server/mail/queue-mail.ts';
import { createSmtpSender } from '#server/mail/smtp-sender.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

/** A service that queues mail, and a mail worker that a test starts and whose clock it moves. */
export type Mailing = Awaited<ReturnType<typeof startMailing>>;

/** A link that every queued mail contains. */
export const secretLink = 'https://texts.example.com/invite/Zk3v9Qm1canary';

/** @param start starts the service; by default startTestService */
export async function startMailing(
  settings: Readonly<Record<string, string>>,
  start: (settings: Readonly<Record<string, string>>) => Promise<TestService> = startTestService,
) {
  const service = await start({
    ROLES: 'api,maintain',
    MAIL_FROM: 'texts@example.com',
    ...settings,
  });
  const { runtime, clock } = service;
  const loops: ReturnType<typeof createMailWorker>[] = [];
  let logged = '';
  const logger = pino(
    { level: 'trace' },
    {
      write: (line) => {
        logged += line;
      },
    },
  );
  const row = async (to: string) => {
    const [first] = await storedMails(service, to);
    if (!first) throw new Error(`no mail was sent to ${to}`);
    return first;
  };
  const notifyAll = () => {
    for (const loop of loops) loop.notify();
  };
  return {
    service,
    /** Row of the first mail to the recipient. */
    row,
    /** Log of the worker, JSON lines. */
    log: () => logged,
    start: () => {
      if (!runtime.config.mail) throw new Error('the service sends no mail');
      const loop = createMailWorker(
        { ...runtime, logger },
        createSmtpSender(runtime.config.mail),
        new MailHealth(),
      );
      loops.push(loop);
      loop.start();
      return loop;
    },
    /** Queues a mail; `silently` does so without waking the worker. */
    queue: async (to: string, how?: 'silently') => {
      const message = {
        subject: 'Example Ltd invites you',
        heading: 'Join Example Ltd',
        paragraphs: ['Sam Example invites you.'],
        action: { label: 'Accept', url: secretLink },
      };
      await runtime.database.transaction((trx) => queueMail(trx, runtime, { to, message }));
      if (how !== 'silently') notifyAll();
    },
    /** Moves the clock and wakes every worker. */
    pass: (ms: number) => {
      clock.advance(ms);
      notifyAll();
    },
    /** Resolves with the mail's row once `attempts` attempts have ended. */
    attempted: (to: string, attempts: number) =>
      until(`attempt ${attempts} of the mail to ${to} is written down`, async () => {
        const found = await row(to);
        return found.attempts === attempts && found.leasedUntil === null && found;
      }),
    close: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
      await service.close();
    },
  };
}
