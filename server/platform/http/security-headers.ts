/** One year, during which a browser that has used https once uses https only. */
const strictTransportSeconds = 31_536_000;

/**
 * Security headers of every answer (specification section 12.3). They forbid content sniffing, framing, scripts and
 * other content, and a referrer for other sites. Pages replace the policy by their own. No header allows CORS, so that
 * pages of other origins can't read answers (section 7.2).
 */
export function securityHeaders(appUrl: string): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'content-security-policy':
      "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    // Strict-Transport-Security is sent with https only, because browsers ignore the header on plain http.
    ...(appUrl.startsWith('https:')
      ? { 'strict-transport-security': `max-age=${strictTransportSeconds}` }
      : {}),
  };
}
