/** Where `npm run referees` listens; unset in every other run, and then requests go straight to Ownline. */
const refereesUrl = process.env.TEST_REFEREES_URL;

export interface Destination {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Ownline refuses what is larger before it was all sent, and ends the connection: a proxy in between sees it break. */
const judgedBytesMax = 200_000;

/** The proxies validate the requests that the document describes: all of /v1 except the device protocol and the document itself. */
export function destinationOf(baseUrl: string, path: string, body: string | Uint8Array = ''): Destination {
  const isDescribed = path.startsWith('/v1/') && !/^\/v1\/(device\/|openapi\.json)/.test(path);
  if (refereesUrl === undefined || !isDescribed || body.length > judgedBytesMax || !isReadable(path))
    return { origin: baseUrl, headers: {} };
  return { origin: refereesUrl, headers: { 'x-upstream': baseUrl } };
}

/** Prism ends on an address that is not percent-encoded. */
function isReadable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** A test whose answer breaks the document fails with what the referee says. */
export function throwViolations(headers: Headers, what: string): void {
  const violations = headers.get('x-violations');
  if (violations !== null)
    throw new Error(`${what} does not agree with /v1/openapi.json: ${decodeURI(violations)}`);
}
