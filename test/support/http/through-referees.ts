/** Address of the proxies of `npm run referees`, which check each answer. In other runs requests go to the service. */
const refereesUrl = process.env.TEST_REFEREES_URL;

export interface Destination {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Larger bodies bypass the proxies, because the service closes those connections early and a proxy fails then. */
const judgedBytesMax = 200_000;

/** Chooses the proxies for requests that the document describes: /v1 without device protocol and document. */
export function destinationOf(baseUrl: string, path: string, body: string | Uint8Array = ''): Destination {
  const isDescribed = path.startsWith('/v1/') && !/^\/v1\/(device\/|openapi\.json)/.test(path);
  if (refereesUrl === undefined || !isDescribed || body.length > judgedBytesMax || !isReadable(path))
    return { origin: baseUrl, headers: {} };
  return { origin: refereesUrl, headers: { 'x-upstream': baseUrl } };
}

/** Prism crashes on an address with invalid percent-encoding. */
function isReadable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Fails a test whose answer violates the document, with the referee's message. */
export function throwViolations(headers: Headers, what: string): void {
  const violations = headers.get('x-violations');
  if (violations !== null)
    throw new Error(`${what} does not agree with /v1/openapi.json: ${decodeURI(violations)}`);
}
