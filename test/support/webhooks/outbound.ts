import { after } from 'node:test';
import { parseAddressRange } from '#server/platform/network/ip-address.ts';
import {
  OutboundHttp,
  type OutboundHttpOptions,
  type OutboundRequest,
} from '#server/platform/outbound-http/outbound-http.ts';
import { makeCertificate } from './certificate.ts';
import { type DnsAnswer, startDnsServer } from './dns-server.ts';
import { startReceiver } from './raw-receiver.ts';

export const host = 'receiver.example.com';
export const certificate = makeCertificate([host, 'other.example.com']);
export const ranges = (...texts: readonly string[]) => texts.flatMap((text) => parseAddressRange(text) ?? []);

export const body = Buffer.from('{"content":"👋"}');
export const post = (url: string, options: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body,
  timeoutMs: 20_000,
  ...options,
});

export const here: DnsAnswer = { addresses: ['127.0.0.1'], ttlSeconds: 300 };

/** Receivers, name servers and guards for the tests of a suite, closed after it. Call it in the body of `describe`. */
export function outboundSuite() {
  const closing: (() => unknown)[] = [];
  after(async () => {
    for (const close of closing.reverse()) await close();
  });
  /** Registers a resource, so that it is closed after the suite. */
  function kept<T extends { close: () => unknown }>(opened: T): T {
    closing.push(() => opened.close());
    return opened;
  }
  const startKept = async (...options: Parameters<typeof startReceiver>) =>
    kept(await startReceiver(...options));
  /** An SSRF guard that may reach this machine, and trusts the certificate. */
  const guard = (options: Partial<OutboundHttpOptions> = {}) =>
    kept(new OutboundHttp({ allowed: ranges('127.0.0.1'), authorities: [certificate.cert], ...options }));
  /** Makes an SSRF guard whose host names `answer` resolves. */
  async function withNames(answer: (name: string) => DnsAnswer, options: Partial<OutboundHttpOptions> = {}) {
    const dns = kept(await startDnsServer(answer));
    return { dns, http: guard({ nameServers: [dns.address], ...options }) };
  }
  return { kept, startKept, guard, withNames };
}
