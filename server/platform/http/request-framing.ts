import type { IncomingMessage } from 'node:http';
import { AppError } from '#server/platform/app-error.ts';

/**
 * Guard against request smuggling (RFC 9112, sections 3.2, 6.1 and 11.2): refuses requests that a proxy may frame in
 * another way than Node. They have no Host or several, a transfer coding in HTTP/1.0, or one other than chunked.
 */
export function framingError({ headers, rawHeaders, httpVersion }: IncomingMessage): AppError | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  if (host === undefined && httpVersion === '1.1')
    return refusal('Send the header Host: HTTP/1.1 asks for it.', 'Host');
  if (hostCount(rawHeaders) > 1) return refusal('Send the header Host once.', 'Host');
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0')
    return refusal('HTTP/1.0 has no transfer codings: send Content-Length.', 'Transfer-Encoding');
  return coding.toLowerCase() === 'chunked'
    ? undefined
    : refusal(
        'This server reads no transfer coding but chunked, and that once. Send Content-Length instead.',
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

/** The end of such a request's body is ambiguous: the connection is closed. */
function refusal(message: string, param: string): AppError {
  return new AppError('invalid_request', message, { param, headers: { connection: 'close' } });
}
