import { adviceOn } from '#server/mail/mail-health.ts';
import { renderMail } from '#server/mail/mail-template.ts';
import { createSmtpCheck, createSmtpSender } from '#server/mail/smtp-sender.ts';
import type { Config } from '#server/platform/config.ts';
import { Ids } from '#server/platform/ids.ts';
import { findAddressProblem } from '#server/platform/network/unreachable-links.ts';
import { OutboundHttp } from '#server/platform/outbound-http/outbound-http.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { type Check, failed, ok, warning } from './check.ts';

const timeoutMs = 20_000;

/** Checks that the mail server accepts a connection and the sign-in. @param recipient gets a mail, if given */
export async function checkMail({ mail, appUrl }: Config, recipient: string | undefined): Promise<Check> {
  if (!mail) {
    const text =
      'No mail server is set: sign-in links and invitations are not mailed, and neither are alarms.';
    return recipient === undefined
      ? ok('mail', text)
      : failed('mail', text, 'Set SMTP_URL and MAIL_FROM (docs/configuration.md).');
  }
  const server = `${mail.server.host}:${mail.server.port}`;
  const problem = await createSmtpCheck(mail)();
  if (problem !== undefined)
    return failed('mail', `The server of SMTP_URL, ${server}, failed with ${problem}.`, adviceOn(problem));
  if (recipient === undefined)
    return ok('mail', `The mail server ${server} accepts the login; no mail was sent.`);
  const clock = new Clock();
  const outcome = await createSmtpSender(mail)(
    {
      id: new Ids(clock).next('mail'),
      to: recipient,
      createdAt: clock.now(),
      rendered: renderMail({
        subject: 'A test of Ownline',
        heading: 'Ownline can send mail',
        paragraphs: [`This mail was sent by \`ownline doctor\`, for the server at ${appUrl}.`],
      }),
    },
    AbortSignal.timeout(timeoutMs),
  );
  return outcome.kind === 'sent'
    ? ok('mail', `The mail server ${server} accepted a mail to ${recipient}. Check that it arrives.`)
    : failed(
        'mail',
        `The mail server ${server} did not accept a mail to ${recipient}: ${outcome.error}.`,
        'Check whether the server may send for the address in MAIL_FROM, and to that recipient.',
      );
}

const egressFixes: Readonly<Record<string, string>> = {
  dns: 'Check the name servers of /etc/resolv.conf: outgoing requests ask them, and not /etc/hosts.',
  no_network:
    'This machine has no route to the internet, or no name server. Check its route, its firewall and /etc/resolv.conf.',
  forbidden_address:
    'The address is private: name its range in EGRESS_ALLOW_CIDRS, if requests may go there.',
  timeout: 'Check whether a firewall drops outgoing connections to port 443.',
};

/**
 * Sends one request like those of webhooks and media fetches: through the SSRF guard, with a DNS look-up.
 * @param chosen the URL of --egress-url; otherwise the service's own public address is tried
 */
export async function checkEgress(config: Config, chosen: string | undefined): Promise<Check> {
  const { baseUrl, egressAllowed } = config;
  const isPublic = findAddressProblem(baseUrl) === undefined;
  const url = chosen ?? (isPublic ? `${baseUrl}/healthz` : undefined);
  const another = 'Name another address: --egress-url https://example.com/';
  if (url === undefined)
    return ok('egress', `No outgoing request was made: BASE_URL is not public. ${another}`);
  const outbound = new OutboundHttp({ allowed: egressAllowed });
  try {
    const outcome = await outbound.send({ method: 'GET', url, headers: {}, timeoutMs });
    if (outcome.kind === 'answered')
      return ok('egress', `An outgoing request to ${url} was answered with ${outcome.status}.`);
    const message = `An outgoing request to ${url} failed: ${outcome.class}.`;
    const fix = egressFixes[outcome.class] ?? 'Check whether the address works from another machine.';
    // A warning only: the service's own public address may be unreachable from inside its network (hairpin NAT),
    // although other addresses are reachable.
    return chosen === undefined && outcome.class !== 'dns' && outcome.class !== 'no_network'
      ? warning('egress', message, `${fix} ${another}`)
      : failed('egress', message, fix);
  } finally {
    await outbound.close();
  }
}
