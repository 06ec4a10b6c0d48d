import { lookup } from 'node:dns/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { networkInterfaces } from 'node:os';
import { connect as connectTls } from 'node:tls';
import { Agent, request } from 'undici';

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
  /** The body of a POST; a request without a body is a GET. */
  readonly body?: Buffer;
  readonly timeoutMs: number;
  /** True for HTTP/2, which the server has to offer. */
  readonly overHttp2?: boolean;
}

/** Upper bound on the bytes of an answer; the probe's answers are shorter. */
const bodyMaxBytes = 1_000_000;

/** Sends a request on a connection of its own. It follows no redirect. */
export async function send(call: PublicCall): Promise<Answered | NotAnswered> {
  const { authorities, url, headers, body, timeoutMs, overHttp2 = false } = call;
  const startedMs = performance.now();
  const durationMs = () => performance.now() - startedMs;
  const dispatcher = new Agent({
    allowH2: overHttp2,
    maxResponseSize: bodyMaxBytes,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs, rejectUnauthorized: true, ...trust(authorities) },
  });
  try {
    const method = body ? 'POST' : 'GET';
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await request(url, { dispatcher, method, headers, body: body ?? null, signal });
    const received = Buffer.from(await answer.body.arrayBuffer());
    return { status: answer.statusCode, headers: answer.headers, body: received, durationMs: durationMs() };
  } catch (error) {
    return { code: codeOf(error), durationMs: durationMs() };
  } finally {
    await dispatcher.destroy();
  }
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

/** The code of the system for an error of undici. */
const systemCodes: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'EFBIG',
};

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'ETIMEDOUT';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.message;
  return systemCodes[code] ?? code;
}

function trust(authorities: Authorities): { readonly ca?: string[] } {
  return authorities === undefined ? {} : { ca: [...authorities] };
}
