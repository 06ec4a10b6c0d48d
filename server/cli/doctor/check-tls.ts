import { countText } from '#server/platform/text.ts';
import { createHostClock } from '#server/platform/time/clock.ts';
import { type Check, failed, ok, warning } from './check.ts';
import { type Authorities, inspectTls, leadsToThisMachine, type NotAnswered } from './public-client.ts';

const hostClock = createHostClock();

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * Certificates are usually renewed when a third of their lifetime is left. If less than this share is left, the renewal
 * has failed.
 */
const leftShareMin = 1 / 6;

/** Checks that a client with the usual authorities trusts the certificate, and when it expires. */
export async function checkTls(url: string, authorities: Authorities) {
  const facts = await inspectTls(url, authorities);
  const unusable = (check: Check) => ({ check, isUsable: false, hasHttp2: false });
  if ('code' in facts)
    return unusable(explainCertificate(url, facts.code) ?? (await explainUnanswered('tls', url, facts)));
  const { protocol, validFrom, validTo, issuer, hasHttp2 } = facts;
  if (protocol !== 'TLSv1.2' && protocol !== 'TLSv1.3') {
    return unusable(
      failed(
        'tls',
        `${url} speaks ${protocol}, which iPhones refuse.`,
        'Allow TLS 1.2 and 1.3 in the proxy.',
      ),
    );
  }
  const leftMs = validTo.getTime() - hostClock.wallMs();
  const days = Math.floor(leftMs / dayMs);
  const left = days < 1 ? countText(Math.floor(leftMs / hourMs), 'more hour') : countText(days, 'more day');
  const text = `The certificate of ${new URL(url).host}, by ${issuer}, is trusted and valid for ${left}`;
  const check =
    leftMs < (validTo.getTime() - validFrom.getTime()) * leftShareMin
      ? warning(
          'tls',
          `${text}: it should have been renewed.`,
          'Look into the log of Caddy, or run `certbot renew`.',
        )
      : ok('tls', `${text}.`);
  return { check, isUsable: true, hasHttp2 };
}

function explainCertificate(url: string, code: string): Check | undefined {
  if (/^(EPROTO|ERR_SSL_)/.test(code))
    return failed(
      'tls',
      `${url} does not speak TLS (${code}).`,
      'Let the proxy serve https at this port, or correct BASE_URL.',
    );
  const { hostname } = new URL(url);
  const untraced = [
    `of ${hostname} can't be traced to an authority (${code}): an intermediate certificate is missing, or its authority is private.`,
    'Serve the whole chain (fullchain.pem). iPhones trust public authorities only, unless a profile says otherwise.',
  ] as const;
  const selfSigned = [
    `of ${hostname} is self-signed, and iPhones refuse it.`,
    "Get one of a public authority, such as Let's Encrypt.",
  ] as const;
  const problems: Readonly<Record<string, readonly [problem: string, fix: string]>> = {
    CERT_HAS_EXPIRED: [
      `of ${hostname} has expired.`,
      'Renew it: check the log of Caddy, or run `certbot renew`.',
    ],
    CERT_NOT_YET_VALID: [`of ${hostname} is not valid yet.`, 'Set the clock of this machine right.'],
    ERR_TLS_CERT_ALTNAME_INVALID: [
      `at ${hostname} is for another name.`,
      `Get one for ${hostname}, or correct BASE_URL.`,
    ],
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: untraced,
    UNABLE_TO_GET_ISSUER_CERT: untraced,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untraced,
    DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
    SELF_SIGNED_CERT_IN_CHAIN: selfSigned,
  };
  const [problem, fix] = problems[code] ?? [];
  return problem && fix ? failed('tls', `The certificate ${problem}`, fix) : undefined;
}

/** The check of a failed connection: a warning if the host name resolves to another machine, otherwise a failure. */
export async function explainUnanswered(name: string, url: string, { code }: NotAnswered): Promise<Check> {
  const { host } = new URL(url);
  const isOwn = await leadsToThisMachine(url);
  if (isOwn === undefined) {
    return failed(
      name,
      `The name of ${host} has no address (${code}).`,
      'Correct BASE_URL, or create the DNS entry.',
    );
  }
  if (isOwn) {
    return failed(
      name,
      `Nothing on this machine answers at ${host} (${code}).`,
      'Start the proxy and Ownline, and let both listen at the address that BASE_URL names.',
    );
  }
  return warning(
    name,
    `This machine does not reach ${host} (${code}). That is normal behind a router without hairpin NAT.`,
    `Open ${url}/healthz with a phone on mobile data. --url checks another address, such as that of the proxy in the local network.`,
  );
}
