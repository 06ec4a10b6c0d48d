/** A year, for which a browser that used https once uses nothing else. */
const strictTransportSeconds = 31_536_000;

/**
 * Security headers of every answer (specification section 12.3). They forbid sniffing of its type, frames, scripts
 * and other content, and a referrer for other sites. Pages bring a policy of their own. No header allows CORS: pages
 * of other origins read no answer (section 7.2).
 */
export function securityHeaders(appUrl: string): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'content-security-policy':
      "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    // On https only: a first start serves plain http on this machine, and browsers ignore the header there.
    ...(appUrl.startsWith('https:')
      ? { 'strict-transport-security': `max-age=${strictTransportSeconds}` }
      : {}),
  };
}
