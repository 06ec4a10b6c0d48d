import { createHash, randomBytes } from 'node:crypto';
import { createProbeTicket, type ProbeAnswer, probePath, probeText } from '#server/operations/probe-route.ts';
import type { Config } from '#server/platform/config.ts';
import type { Secrets } from '#server/platform/crypto.ts';
import { spoofedAddress } from '#server/platform/network/trusted-proxies.ts';
import { findAddressProblem } from '#server/platform/network/unreachable-links.ts';
import { type Check, failed, ok, warning } from './check.ts';
import { checkForwarding } from './check-forwarding.ts';
import { checkTls, explainUnanswered } from './check-tls.ts';
import { type Answered, type Authorities, type NotAnswered, type PublicCall, send } from './public-client.ts';

const timeoutMs = 30_000;

/** Size of an inbound message with a picture: 5 MiB as base64, and some more. */
const pictureBytes = 7_100_000;

export interface PublicAddressOptions {
  readonly config: Config;
  /** The public address, without a trailing slash. */
  readonly url: string;
  /** Needed to call the service's probe; undefined if the secrets key is missing. */
  readonly secrets: Secrets | undefined;
  readonly serviceMs: number;
  /** True skips the check of a held request, which takes DEVICE_HOLD_SECONDS. */
  readonly isQuick: boolean;
  /** Certificate authorities that are trusted instead of the usual ones, for tests. */
  readonly authorities?: Authorities;
}

/**
 * Checks the public address from a phone's point of view. It calls the device endpoint of
 * polls, and the probe, which answers with what reached the service.
 */
export async function* checkPublicAddress(options: PublicAddressOptions): AsyncGenerator<Check> {
  const { url, secrets, serviceMs, authorities } = options;
  yield checkAddress(url);
  let hasHttp2 = false;
  if (url.startsWith('https:')) {
    const tls = await checkTls(url, authorities);
    yield tls.check;
    if (!tls.isUsable) return;
    hasHttp2 = tls.hasHttp2;
  }
  const endpoint = await checkDeviceEndpoint(url, authorities);
  yield endpoint;
  if (endpoint.state !== 'ok') return;
  if (secrets === undefined) {
    yield warning(
      'body',
      'Bodies, the hold and the proxy were not checked: that needs the secrets key.',
      'Correct the secrets key as described above, and run this again.',
    );
    return;
  }
  const probe = {
    authorities,
    url: `${url}${probePath.replace(':ticket', createProbeTicket(secrets, serviceMs))}`,
  };
  const answered = await callProbe(probe, trickyBody());
  if ('state' in answered) {
    yield answered;
    return;
  }
  yield ok('body', 'A request and its answer come through unchanged.');
  yield* checkForwarding(answered.answer, options);
  if (hasHttp2) {
    const overHttp2 = await callProbe({ ...probe, overHttp2: true }, trickyBody());
    yield 'state' in overHttp2
      ? { ...overHttp2, name: 'http2' }
      : ok('http2', 'The same over HTTP/2, which the proxy offers.');
  }
  const large = await callProbe(probe, randomBytes(pictureBytes));
  yield 'state' in large
    ? { ...large, name: 'large_body' }
    : ok('large_body', 'A body of 7 MB comes through: that is an inbound message with a picture.');
  if (!options.isQuick) yield await checkHold(options.config, probe);
}

type Probe = Pick<PublicCall, 'url' | 'authorities' | 'overHttp2'>;

function checkAddress(url: string): Check {
  const fix =
    'Set BASE_URL to an https address that phones reach everywhere (docs/operations.md, "HTTPS with Caddy").';
  switch (findAddressProblem(url)) {
    case 'loopback':
      return warning('address', `${url} leads to this machine only: no iPhone can reach it.`, fix);
    case 'private':
      return warning('address', `${url} is in a private network: iPhones reach it from there only.`, fix);
    case 'plain_http':
      return failed(
        'address',
        `${url} has no TLS: others on the network can read device tokens and texts.`,
        fix,
      );
    case undefined:
      return ok('address', `Phones use the address ${url}.`);
  }
}

/** Polls with an unknown token: the device endpoint answers with stop at once. */
async function checkDeviceEndpoint(url: string, authorities: Authorities): Promise<Check> {
  const name = 'device_endpoint';
  const answer = await send({
    url: `${url}/v1/device/poll`,
    headers: { 'content-type': 'application/json', 'x-device-token': 'dev_of-ownline-doctor' },
    body: Buffer.from('{"session":"new"}'),
    authorities,
    timeoutMs,
  });
  if ('code' in answer) return explainUnanswered(name, url, answer);
  const { status, headers } = answer;
  if (status >= 300 && status < 400) {
    return failed(
      name,
      `A poll is redirected to ${headers.location ?? 'nowhere'} (${status}): an iPhone does not send it again.`,
      'Set BASE_URL to the address that it is redirected to, or let the proxy pass /v1/device/ on without a redirect.',
    );
  }
  const body = answer.body.toString('utf8');
  if (status === 200 && /"action":"stop".*"reason":"unauthorized"/.test(body))
    return ok(name, 'Polls of phones reach Ownline without a redirect.');
  if (status === 502 || status === 503 || status === 504) {
    return failed(
      name,
      `The proxy at ${url} answers polls with ${status}: it does not reach Ownline.`,
      'Start Ownline, and let the proxy forward to HOST and PORT of the settings.',
    );
  }
  return failed(
    name,
    `A poll to ${url} is answered with ${status}, and not by Ownline.`,
    'Route all paths of this address to Ownline, without a page, login or filter that answers instead.',
  );
}

/** JSON that filters and rewriting proxies tend to block or change. */
function trickyBody(): Buffer {
  const text = `${probeText} '; DROP TABLE messages; -- ../../etc/passwd %00 %2e%2e \\u0000 ${'x'.repeat(60_000)}`;
  return Buffer.from(JSON.stringify({ text, nonce: randomBytes(16).toString('hex') }));
}

const doctorToken = 'dev_header-of-ownline-doctor';

/** Calls the probe and compares what arrived with what was sent. @returns the probe's answer, or a failed check */
async function callProbe(
  probe: Probe,
  body: Buffer,
  holdMs = 0,
): Promise<{ readonly answer: ProbeAnswer; readonly durationMs: number } | Check> {
  const name = 'body';
  const contentType = 'application/json';
  const result = await send({
    ...probe,
    url: holdMs > 0 ? `${probe.url}?hold_ms=${holdMs}` : probe.url,
    headers: {
      'content-type': contentType,
      'x-device-token': doctorToken,
      'x-forwarded-for': spoofedAddress,
    },
    body,
    timeoutMs: holdMs + timeoutMs,
  });
  if ('code' in result) {
    const text = `A request of ${body.length} bytes was cut off after ${seconds(result)} (${result.code}).`;
    return failed(name, text, 'Check the log of the proxy for the reason.');
  }
  if (result.status !== 200) return explainStatus(name, result, body.length);
  const answer = readAnswer(result.body);
  if (answer === undefined || answer.text !== probeText)
    return failed(
      name,
      'The answer was changed on its way to this machine.',
      'Let the proxy, and the network in front of it, pass on answers unchanged.',
    );
  const isWhole =
    answer.body_sha256 === createHash('sha256').update(body).digest('hex') &&
    answer.body_bytes === body.length;
  if (!isWhole || answer.content_type !== contentType || answer.device_token !== doctorToken)
    return failed(
      name,
      isWhole
        ? 'Headers of a request were changed or left out on its way.'
        : `The body of a request was changed on its way: ${body.length} bytes were sent, ${answer.body_bytes} arrived.`,
      'Let the proxy pass on bodies and headers as they are, x-device-token and content-type among them.',
    );
  if (result.headers['cache-control'] !== 'no-store' || result.headers['request-id'] === undefined)
    return failed(
      name,
      'Headers of an answer were changed or left out on its way.',
      'Let the proxy pass on the headers of answers, cache-control and request-id among them, and store nothing.',
    );
  return { answer, durationMs: result.durationMs };
}

function readAnswer(body: Buffer): ProbeAnswer | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && 'text' in value
      ? (value as ProbeAnswer)
      : undefined;
  } catch {
    return undefined;
  }
}

function explainStatus(name: string, { status }: Answered, bytes: number): Check {
  if (status === 413) {
    return failed(
      name,
      `The proxy refuses a body of ${bytes} bytes (413): a phone uploads pictures of up to 7 MB.`,
      'Raise its limit: client_max_body_size 8m in nginx; Caddy has none.',
    );
  }
  if (status === 404) {
    return failed(
      name,
      'The answer comes from another Ownline, which has another SECRETS_KEY or an older release.',
      'Let the address lead to the service with these settings, and restart it with this release.',
    );
  }
  return failed(
    name,
    `A request of ${bytes} bytes with usual text was answered with ${status}.`,
    'Turn off filters for requests to /v1/ in the proxy and in the network in front of it.',
  );
}

async function checkHold({ deviceHoldMs }: Config, probe: Probe): Promise<Check> {
  const name = 'hold';
  const fix =
    'Let the proxy wait longer for an answer, 75 s for example: proxy_read_timeout in nginx; Caddy has no limit. Or lower DEVICE_HOLD_SECONDS.';
  const held = await callProbe(probe, Buffer.from('{}'), deviceHoldMs);
  if ('state' in held)
    return failed(
      name,
      `A poll that is held for ${deviceHoldMs / 1_000} s does not come through: ${held.message}`,
      fix,
    );
  if (held.durationMs < deviceHoldMs)
    return failed(
      name,
      `A held poll was answered after ${seconds(held)}: the service is stopping.`,
      'Run this again.',
    );
  return ok(name, `An answer that is held for ${deviceHoldMs / 1_000} s arrives, after ${seconds(held)}.`);
}

function seconds({ durationMs }: Pick<NotAnswered, 'durationMs'>): string {
  return `${(durationMs / 1_000).toFixed(1)} s`;
}
