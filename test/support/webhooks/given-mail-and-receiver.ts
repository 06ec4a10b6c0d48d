import { type MailServer, startMailServer } from '#test/support/mail/mail-server.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';
import { startWebhooking } from './webhook-world.ts';

export interface MailAndReceiver {
  readonly mail: MailServer;
  readonly service: TestService;
  readonly receiver: WebhookReceiver;
  readonly close: () => Promise<void>;
}

/** A service with a mail server, and a receiver that its webhooks may reach. */
export async function givenMailAndReceiver(): Promise<MailAndReceiver> {
  const mail = await startMailServer();
  const service = await startWebhooking({ SMTP_URL: mail.url, MAIL_FROM: 'texts@example.com' });
  const receiver = await startWebhookReceiver();
  const close = async () => {
    await service.close();
    await receiver.close();
    await mail.close();
  };
  return { mail, service, receiver, close };
}
