/** A year, in which a browser that used https once uses nothing else. */
const strictTransportSeconds = 31_536_000;

/**
 * Security headers of every answer (specification section 12.3). They forbid content sniffing, framing, scripts and
 * other content, and a referrer for other sites. Pages replace the policy by their own. No header allows CORS, so that
 * pages of other origins read no answer (section 7.2).
 */
export function securityHeaders(appUrl: string): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'content-security-policy':
      "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    // Strict-Transport-Security needs https: a first start serves plain http, where browsers ignore the header.
    ...(appUrl.startsWith('https:')
      ? { 'strict-transport-security': `max-age=${strictTransportSeconds}` }
      : {}),
  };
}
