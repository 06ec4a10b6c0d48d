import type { IncomingMessage } from 'node:http';
import { AppError } from '#server/platform/app-error.ts';

/**
 * Guard against request smuggling (RFC 9112, sections 3.2, 6.1 and 11.2): refuses requests that a proxy may frame
 * differently than Node. Such requests have no Host header or several, a transfer coding in HTTP/1.0, or a transfer
 * coding that is not chunked.
 */
export function framingError({ headers, rawHeaders, httpVersion }: IncomingMessage): AppError | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  if (host === undefined && httpVersion === '1.1')
    return refusal('The Host header is missing. Send it: HTTP/1.1 requires it.', 'Host');
  if (hostCount(rawHeaders) > 1) return refusal('The request has several Host headers. Send one.', 'Host');
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0')
    return refusal('HTTP/1.0 has no Transfer-Encoding. Send Content-Length instead.', 'Transfer-Encoding');
  return coding.toLowerCase() === 'chunked'
    ? undefined
    : refusal(
        'The only Transfer-Encoding that this server reads is chunked, once. Send that, or Content-Length.',
        'Transfer-Encoding',
      );
}

function hostCount(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** The error closes the connection, because it is unclear where the body ends. */
function refusal(message: string, param: string): AppError {
  return new AppError('invalid_request', message, { param, headers: { connection: 'close' } });
}
