import { request as forward, type IncomingMessage, type RequestListener } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer } from 'node:https';
import { makeCertificate } from '#test/support/webhooks/certificate.ts';
import { listenLocally } from './listen-locally.ts';

/** Faults of a proxy. Without a field the proxy behaves correctly. */
export interface ProxyFaults {
  /** Status with which each request is redirected. */
  readonly redirect?: number;
  /** Status with which the proxy answers every request itself. */
  readonly answers?: number;
  readonly changesBodies?: boolean;
  readonly changesAnswers?: boolean;
  readonly dropsHeader?: string;
  readonly dropsAnswerHeader?: string;
  /** A larger body is refused with 413. */
  readonly bodyMaxBytes?: number;
  /** Time after which the proxy answers 504. */
  readonly waitsMs?: number;
  /** Time after which the proxy cuts the connection. */
  readonly cutsAfterMs?: number;
  /** How the proxy passes X-Forwarded-For on. */
  readonly forwards?: 'appended' | 'as written' | 'nothing';
  readonly host?: string;
  readonly hasHttp2?: boolean;
  /** Names and last day of its certificate, as `makeCertificate` takes them. */
  readonly names?: readonly string[];
  readonly lastDay?: string;
  readonly firstDay?: string;
}

/** Starts an https proxy in front of a service, with HTTP/1.1, HTTP/2 and the given faults. */
export async function startChangingProxy(target: string, faults: ProxyFaults = {}) {
  const { key, cert } = makeCertificate(faults.names ?? ['localhost'], faults.lastDay, faults.firstDay);
  const onRequest = (incoming: Http2ServerRequest, outgoing: Http2ServerResponse) =>
    void pass(target, faults, incoming, outgoing);
  // The types are those of HTTP/2. Requests of HTTP/1.1 have the same fields, as far as this proxy uses them.
  const server =
    faults.hasHttp2 === false
      ? createServer({ key, cert }, onRequest as unknown as RequestListener)
      : createSecureServer({ key, cert, allowHTTP1: true }, onRequest);
  const sessions = new Set<{ destroy: () => void }>();
  server.on('session', (session) => sessions.add(session));
  server.on('secureConnection', (socket) => sessions.add(socket));
  const port = await listenLocally(server);
  return {
    /** URL of the proxy, `https://localhost:<port>`. */
    url: `https://localhost:${port}`,
    certificate: cert,
    close: async () => {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function pass(
  target: string,
  faults: ProxyFaults,
  incoming: Http2ServerRequest,
  outgoing: Http2ServerResponse,
): Promise<void> {
  incoming.on('error', () => undefined);
  const own = (status: number, headers = {}) =>
    outgoing.writeHead(status, headers).end('<html>A page</html>');
  const body = Buffer.concat(await Array.fromAsync<Buffer>(incoming)).toString('latin1');
  if (faults.redirect !== undefined)
    return void own(faults.redirect, { location: 'https://www.example.com/' });
  if (faults.answers !== undefined) return void own(faults.answers);
  if (body.length > (faults.bodyMaxBytes ?? Number.POSITIVE_INFINITY)) return void own(413);
  const sent = Buffer.from(faults.changesBodies ? body.replace('DROP TABLE', '') : body, 'latin1');
  const call = forward(
    `${target}${incoming.url}`,
    { method: incoming.method, headers: headersOf(incoming, faults, sent.length) },
    (answer) => void passBack(answer, faults, outgoing),
  );
  call.on('error', () => outgoing.end());
  if (faults.waitsMs !== undefined) {
    const timer = setTimeout(() => own(504), faults.waitsMs);
    call.once('response', () => clearTimeout(timer));
  }
  if (faults.cutsAfterMs !== undefined) {
    const timer = setTimeout(
      () => outgoing.stream?.session?.destroy() ?? incoming.socket.destroy(),
      faults.cutsAfterMs,
    );
    call.once('response', () => clearTimeout(timer));
  }
  call.end(sent);
}

function headersOf(incoming: Http2ServerRequest, faults: ProxyFaults, length: number) {
  const headers: Record<string, string | string[] | undefined> = { ...incoming.headers };
  const host = faults.host ?? String(headers[':authority'] ?? headers.host);
  for (const name of Object.keys(headers)) if (name.startsWith(':')) delete headers[name];
  if (faults.dropsHeader !== undefined) delete headers[faults.dropsHeader];
  const written = headers['x-forwarded-for'];
  if (faults.forwards === 'nothing') delete headers['x-forwarded-for'];
  else if (faults.forwards !== 'as written')
    headers['x-forwarded-for'] = [written ?? [], '127.0.0.9'].flat().join(', ');
  return { ...headers, host, 'content-length': String(length) };
}

async function passBack(
  answer: IncomingMessage,
  faults: ProxyFaults,
  outgoing: Http2ServerResponse,
): Promise<void> {
  if (outgoing.headersSent) return;
  const body = Buffer.concat(await Array.fromAsync<Buffer>(answer)).toString('utf8');
  const headers = { ...answer.headers };
  for (const name of [
    'connection',
    'keep-alive',
    'transfer-encoding',
    'content-length',
    faults.dropsAnswerHeader,
  ])
    if (name !== undefined) delete headers[name];
  outgoing.writeHead(answer.statusCode ?? 502, headers);
  outgoing.end(faults.changesAnswers ? body.replaceAll('@example.com', '@protected') : body);
}
