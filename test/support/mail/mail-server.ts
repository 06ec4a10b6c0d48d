import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { until } from '#test/support/service/until.ts';
import type { TestCertificate } from '#test/support/webhooks/certificate.ts';

/** Behaviour of the server towards all clients, until the test changes it. */
export type Behaviour =
  | 'accept'
  /** Closes the connection when the client names the recipient. */
  | 'close'
  /** Does not greet; `behave('accept')` greets the waiting clients. */
  | 'hang at greeting'
  /** Receives a whole mail, and confirms it only after `behave('accept')`. */
  | 'hang at content'
  | {
      readonly refuse: number;
      readonly at: 'greeting' | 'sender' | 'recipient' | 'content';
      readonly words?: string;
    };

export interface ReceivedMail {
  /** Sender in the SMTP envelope; `to` has the recipients. */
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  readonly parsed: Email;
  readonly text: string;
  readonly html: string;
  /** True for a mail over TLS; `user` is the login. */
  readonly secure: boolean;
  readonly user: string | undefined;
}

/** A real SMTP server in this process. */
export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

interface MailServerOptions {
  /** Makes the server offer TLS, from the first byte or by STARTTLS. */
  readonly tls?: TestCertificate & { readonly from: 'first byte' | 'starttls' };
  /** Login that the server requires. */
  readonly login?: { readonly user: string; readonly password: string };
}

export async function startMailServer({ tls, login }: MailServerOptions = {}) {
  const received: ReceivedMail[] = [];
  let behaviour: Behaviour = 'accept';
  let connections = 0;
  let given = 0;
  const hanging = new Set<() => void>();
  const hang = (answer: () => void) => {
    hanging.add(answer);
  };
  const refusal = (at: string) => {
    if (typeof behaviour === 'string' || behaviour.at !== at) return undefined;
    return Object.assign(new Error(behaviour.words ?? 'no'), { responseCode: behaviour.refuse });
  };

  const server = new SMTPServer({
    secure: tls?.from === 'first byte',
    ...(tls ? { key: tls.key, cert: tls.cert } : {}),
    disabledCommands: [...(tls?.from === 'starttls' ? [] : ['STARTTLS']), ...(login ? [] : ['AUTH'])],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    onAuth(auth, _session, callback) {
      const isRight = auth.username === login?.user && auth.password === login?.password;
      callback(isRight ? null : new Error('who are you'), isRight ? { user: auth.username } : undefined);
    },
    onConnect(_session, callback) {
      connections += 1;
      if (behaviour === 'hang at greeting') hang(callback);
      else callback(refusal('greeting'));
    },
    onMailFrom(_address, _session, callback) {
      callback(refusal('sender'));
    },
    onRcptTo(_address, session, callback) {
      if (behaviour === 'close') end(session);
      else callback(refusal('recipient'));
    },
    onData(stream, session, callback) {
      read(stream, session).then(
        () => {
          if (behaviour === 'hang at content') hang(callback);
          else callback(null);
        },
        (error: Error) => callback(error),
      );
    },
  });
  server.on('error', () => undefined);

  function end(session: SMTPServerSession): void {
    for (const connection of server.connections) if (connection.id === session.id) connection.close();
  }

  async function read(stream: AsyncIterable<Buffer>, session: SMTPServerSession): Promise<void> {
    const raw = Buffer.concat(await Array.fromAsync(stream));
    const refused = refusal('content');
    if (refused) throw refused;
    const { mailFrom, rcptTo } = session.envelope;
    const parsed = await PostalMime.parse(raw);
    received.push({
      from: mailFrom ? mailFrom.address : '',
      to: rcptTo.map(({ address }) => address),
      raw: raw.toString('utf8'),
      parsed,
      text: parsed.text ?? '',
      html: parsed.html ?? '',
      secure: session.secure,
      user: session.user,
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server listens on no TCP port');
  const behave = (next: Behaviour) => {
    behaviour = next;
    if (next !== 'accept') return;
    for (const answer of hanging) answer();
    hanging.clear();
  };
  return {
    port: address.port,
    /** URL for SMTP_URL: `smtp://127.0.0.1:2525`. */
    url: `smtp${tls?.from === 'first byte' ? 's' : ''}://127.0.0.1:${address.port}`,
    /** Mails that arrived whole, even if they were not answered. */
    received,
    /** Number of connections so far; `hanging` counts those that wait for an answer. */
    connections: () => connections,
    hanging: () => hanging.size,
    /** Resolves with the next mail that the test has not read yet. */
    next: async () => {
      const mail = await until('a mail arrives', () => received[given]);
      given += 1;
      return mail;
    },
    behave,
    close: async () => {
      behave('accept');
      for (const connection of server.connections) connection.close();
      await new Promise<void>((resolve) => server.close(resolve));
    },
  };
}
