import { given } from '#test/support/service/given.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';
import { type MailServer, startMailServer } from './mail-server.ts';

/** A service that sends mail, and the mail server that records it, for a suite. */
export function givenMailService(settings: Readonly<Record<string, string>> = {}): {
  readonly mail: MailServer;
  readonly service: TestService;
} {
  const mail = given(() => startMailServer());
  const service = given(() =>
    startTestService({ SMTP_URL: mail.url, MAIL_FROM: 'texts@example.com', ...settings }),
  );
  return { mail, service };
}
