import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import type { Config, SmtpServer } from '#server/platform/config.ts';
import { type MailId, publicId } from '#server/platform/ids.ts';
import type { RenderedMail } from './mail-template.ts';

export interface OutgoingMail {
  readonly id: MailId;
  readonly to: string;
  readonly createdAt: Date;
  readonly rendered: RenderedMail;
}

/** Outcome of an attempt. `error` consists of codes, such as `550 5.1.1 to RCPT TO` or `ETIMEDOUT GREETING_TIMEOUT`. */
export type MailSendOutcome =
  | { readonly kind: 'sent' }
  /** The mail server refuses this mail, and a retry is useless. */
  | { readonly kind: 'refused'; readonly error: string }
  /** The mail server may accept the mail later. */
  | { readonly kind: 'failed'; readonly error: string };

/** Makes one attempt; never throws. An abort counts as failed, though the mail server may have the mail already. */
export type SendMail = (mail: OutgoingMail, signal: AbortSignal) => Promise<MailSendOutcome>;

/** Time-outs: from the connection to the server's greeting, and of silence after the greeting. */
const connectionTimeoutMs = 10_000;
const silenceMs = 20_000;

/**
 * Connects and signs in without sending a mail. @returns undefined on success, otherwise error codes like those of an
 * attempt
 */
export type CheckServer = () => Promise<string | undefined>;

export function createSmtpCheck({ server }: NonNullable<Config['mail']>): CheckServer {
  const transport = openTransport(server);
  return () =>
    transport.verify().then(
      () => undefined,
      (error: unknown) => describe(error),
    );
}

function openTransport(server: SmtpServer) {
  return createTransport({
    host: server.host,
    port: server.port,
    secure: server.secure,
    ...startTls(server),
    // The check of certificates is explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable it.
    tls: { rejectUnauthorized: true },
    ...(server.login ? { auth: { user: server.login.user, pass: server.login.password } } : {}),
    dnsTimeout: connectionTimeoutMs,
    connectionTimeout: connectionTimeoutMs,
    greetingTimeout: connectionTimeoutMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Sends over SMTP, with a connection per mail: mails are rare, and an idle connection may be dead. */
export function createSmtpSender({ server, from }: NonNullable<Config['mail']>): SendMail {
  const transport = openTransport(server);
  const host = from.address.slice(from.address.lastIndexOf('@') + 1);
  return async (mail, signal) => {
    try {
      await transport.sendMail({
        from,
        // The recipient is an object, so that it is not parsed as a list of addresses.
        to: { name: '', address: mail.to },
        envelope: { from: from.address, to: [mail.to] },
        subject: mail.rendered.subject,
        text: mail.rendered.text,
        html: mail.rendered.html,
        // The Message-ID is equal on every attempt: a mail server can recognize a mail that was sent twice because of a
        // crash.
        messageId: `<${publicId('mail', mail.id)}@${host}>`,
        date: mail.createdAt,
        // These headers suppress automatic replies, because Ownline receives no mail.
        headers: { 'auto-submitted': 'auto-generated', 'x-auto-response-suppress': 'All' },
        xMailer: false,
        signal,
      });
      return { kind: 'sent' };
    } catch (error) {
      return { kind: isFinal(error) ? 'refused' : 'failed', error: describe(error) };
    }
  };
}

/**
 * STARTTLS: smtp:// begins in plain text and uses STARTTLS if the mail server offers it. A login on another machine
 * requires it, so that no password is sent in plain text. A connection on the same machine skips STARTTLS, because no
 * network is crossed and local certificates are seldom valid.
 */
function startTls({ host, login }: SmtpServer): {
  readonly ignoreTLS: boolean;
  readonly requireTLS: boolean;
} {
  const isHere = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  return { ignoreTLS: isHere, requireTLS: !isHere && login !== undefined };
}

/**
 * Whether a retry is useless: a 5xx reply to the recipient or to the content. A 5xx reply to a greeting, a login or a
 * sender points to the settings, which an operator may correct within a day. Code 503 is about the order of commands,
 * so a retry may help.
 */
function isFinal(error: unknown): boolean {
  const [code, command] = [field(error, 'responseCode'), field(error, 'command')];
  return (
    typeof code === 'number' && code >= 500 && code !== 503 && (command === 'RCPT TO' || command === 'DATA')
  );
}

/** Returns only codes and command names, because a mail server's text may quote addresses and links. */
function describe(error: unknown): string {
  const status = field(error, 'responseCode');
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(String(field(error, 'response')))?.[1];
  const words = ['originalCode', 'code', 'timeoutType'].flatMap((name) => {
    const word = String(field(error, name) ?? '');
    return /^[A-Z][A-Z0-9_]{1,60}$/.test(word) ? [word] : [];
  });
  if (typeof status !== 'number') return words.join(' ') || String(field(error, 'name'));
  return `${status}${enhanced === undefined ? '' : ` ${enhanced}`} to ${String(field(error, 'command') ?? 'CONN')}`;
}

function field(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
}
