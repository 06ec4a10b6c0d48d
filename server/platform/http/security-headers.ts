/** A year: how long a browser that was here by https asks for nothing else. */
const strictTransportSeconds = 31_536_000;

/**
 * What every answer tells a browser (specification section 12.3): to take it for what it says it is, to show it in no
 * frame, to run and load nothing for it, and to name its address to no other site. Pages bring a policy of their own.
 */
export function securityHeaders(appUrl: string): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'content-security-policy':
      "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    // Of https only: a first start serves plain http on this machine, and browsers ignore it there.
    ...(appUrl.startsWith('https:')
      ? { 'strict-transport-security': `max-age=${strictTransportSeconds}` }
      : {}),
  };
}
