import { lookup } from 'node:dns/promises';
import { type IncomingHttpHeaders, request as requestPlain } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request as requestSecure } from 'node:https';
import { networkInterfaces } from 'node:os';
import { connect as connectTls } from 'node:tls';

/**
 * Connections of `ownline doctor` to the public address of this installation. They bypass the SSRF guard, because the
 * operator chose the address and it may be private. The running service never uses this file.
 */

const connectMs = 10_000;

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly durationMs: number;
}

/** A request that failed before its answer was complete. */
export interface NotAnswered {
  /** A code of the system or of TLS, such as ECONNREFUSED or CERT_HAS_EXPIRED; otherwise the error's text. */
  readonly code: string;
  readonly durationMs: number;
}

/** PEM certificates that tests trust instead of the usual authorities. */
export type Authorities = readonly string[] | undefined;

export interface PublicCall {
  readonly authorities?: Authorities;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly timeoutMs: number;
}

/** Upper bound on the bytes of an answer that are read; the probe's answers are shorter. */
const bodyMaxBytes = 1_000_000;

/** POST over HTTP/1.1 on its own connection. It follows no redirect. */
export function post(call: PublicCall): Promise<Answered | NotAnswered> {
  return send('POST', call);
}

export function get(call: Omit<PublicCall, 'body'>): Promise<Answered | NotAnswered> {
  return send('GET', { ...call, body: Buffer.alloc(0) });
}

function send(
  method: 'GET' | 'POST',
  { url, headers, body, timeoutMs, authorities }: PublicCall,
): Promise<Answered | NotAnswered> {
  const startedMs = performance.now();
  const elapsed = () => performance.now() - startedMs;
  const request = url.startsWith('https:') ? requestSecure : requestPlain;
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve({ code: codeOf(error), durationMs: elapsed() });
    const call = request(
      url,
      {
        method,
        agent: false,
        headers: method === 'POST' ? { ...headers, 'content-length': body.length } : headers,
        signal: AbortSignal.timeout(timeoutMs),
        rejectUnauthorized: true,
        ...trust(authorities),
      },
      (answer) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (part: Buffer) => {
          bytes += part.length;
          if (bytes <= bodyMaxBytes) parts.push(part);
        });
        answer.on('error', fail);
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: Buffer.concat(parts),
            durationMs: elapsed(),
          }),
        );
      },
    );
    call.on('error', fail);
    call.end(body);
  });
}

/** POST over HTTP/2 on its own connection. */
export function postHttp2({
  url,
  headers,
  body,
  timeoutMs,
  authorities,
}: PublicCall): Promise<Answered | NotAnswered> {
  const startedMs = performance.now();
  const elapsed = () => performance.now() - startedMs;
  const { origin, pathname, search } = new URL(url);
  const session = connectHttp2(origin, { rejectUnauthorized: true, ...trust(authorities) });
  const answered = new Promise<Answered | NotAnswered>((resolve) => {
    const fail = (error: Error) => resolve({ code: codeOf(error), durationMs: elapsed() });
    session.on('error', fail);
    const stream = session.request(
      { ':method': 'POST', ':path': `${pathname}${search}`, ...headers, 'content-length': body.length },
      { signal: AbortSignal.timeout(timeoutMs) },
    );
    stream.on('error', fail);
    stream.on('response', (answerHeaders) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () =>
        resolve({
          status: answerHeaders[':status'] ?? 0,
          headers: answerHeaders as IncomingHttpHeaders,
          body: Buffer.concat(parts),
          durationMs: elapsed(),
        }),
      );
    });
    stream.end(body);
  });
  return answered.finally(() => session.destroy());
}

export interface TlsFacts {
  /** The TLS version, such as `TLSv1.3`. */
  readonly protocol: string;
  readonly hasHttp2: boolean;
  readonly validFrom: Date;
  readonly validTo: Date;
  readonly issuer: string;
}

/** Opens and closes a TLS connection as a client that trusts the usual authorities. */
export function inspectTls(url: string, authorities: Authorities): Promise<TlsFacts | NotAnswered> {
  const startedMs = performance.now();
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve) => {
    const socket = connectTls({
      host,
      port: Number(port) || 443,
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
      ALPNProtocols: ['h2', 'http/1.1'],
      rejectUnauthorized: true,
      ...trust(authorities),
    });
    const done = (result: TlsFacts | NotAnswered) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const fail = (code: string) => done({ code, durationMs: performance.now() - startedMs });
    const timer = setTimeout(() => fail('ETIMEDOUT'), connectMs);
    socket.on('error', (error) => fail(codeOf(error)));
    socket.once('secureConnect', () => {
      const { valid_from: validFrom, valid_to: validTo, issuer } = socket.getPeerCertificate();
      done({
        protocol: socket.getProtocol() ?? 'unknown',
        hasHttp2: socket.alpnProtocol === 'h2',
        validFrom: new Date(validFrom),
        validTo: new Date(validTo),
        issuer: String(issuer.O ?? issuer.CN ?? 'an authority without a name'),
      });
    });
  });
}

/** True if a URL's host name resolves to this machine; undefined if the name does not resolve. */
export async function leadsToThisMachine(url: string): Promise<boolean | undefined> {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const own = new Set(
    Object.values(networkInterfaces()).flatMap((of) => (of ?? []).map((one) => one.address)),
  );
  try {
    const found = await lookup(host, { all: true });
    return found.some(({ address }) => own.has(address) || address.startsWith('127.') || address === '::1');
  } catch {
    return undefined;
  }
}

function codeOf(error: Error): string {
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'ETIMEDOUT';
  const { cause } = error;
  if ('code' in error && typeof error.code === 'string')
    return error.code === 'ABORT_ERR' ? 'ETIMEDOUT' : error.code;
  return cause instanceof Error ? codeOf(cause) : error.message;
}

function trust(authorities: Authorities): { readonly ca?: string[] } {
  return authorities === undefined ? {} : { ca: [...authorities] };
}
