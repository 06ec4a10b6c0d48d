import type { ProbeAnswer } from '#server/operations/probe-route.ts';
import type { Config } from '#server/platform/config.ts';
import { createTrustProxy, spoofedAddress } from '#server/platform/network/trusted-proxies.ts';
import { type Check, failed, ok, warning } from './check.ts';

/** Checks Host, and whether rate limits count the right clients, which depends on TRUST_PROXY and X-Forwarded-For. */
export function* checkForwarding(
  answer: ProbeAnswer,
  { config, url }: { readonly config: Pick<Config, 'trustProxy'>; readonly url: string },
): Generator<Check> {
  const { host } = new URL(url);
  yield answer.host === host
    ? ok('host', `Ownline sees the name ${host}.`)
    : warning(
        'host',
        `Ownline sees the name ${answer.host ?? 'none'} instead of ${host}.`,
        'Let the proxy pass on Host: proxy_set_header Host $host in nginx; Caddy does.',
      );
  yield checkClient(answer, config, url);
}

function checkClient(
  { forwarded_for: forwarded, client, peer }: ProbeAnswer,
  { trustProxy }: Pick<Config, 'trustProxy'>,
  url: string,
): Check {
  const name = 'client_address';
  const peerText = peer ?? 'an unknown address';
  const isTrusted = peer !== null && createTrustProxy(trustProxy)(peer, 0);
  const isBare = forwarded === spoofedAddress;
  if (isTrusted && isBare) {
    return failed(
      name,
      `The proxy at ${peerText} passes on X-Forwarded-For as clients send it: a client can pretend to be another one.`,
      'Let it set the header: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for in nginx; Caddy does.',
    );
  }
  if (isTrusted) {
    return forwarded === null
      ? warning(
          name,
          `The proxy at ${peerText} sends no X-Forwarded-For: all clients count as one.`,
          'Let it set the header: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for in nginx; Caddy does.',
        )
      : ok(name, `TRUST_PROXY names the proxy at ${peerText}; this client counts as ${client}.`);
  }
  // The service ignores X-Forwarded-For of a proxy that it does not trust, so all clients behind the proxy count as
  // one.
  if (!isBare || url.startsWith('https:')) {
    return warning(
      name,
      `Requests come from a proxy at ${peerText}, which TRUST_PROXY does not name: all its clients count as one.`,
      `Set TRUST_PROXY=${peerText} and restart.`,
    );
  }
  return ok(name, `No proxy stands in front; this client counts as ${client}.`);
}
