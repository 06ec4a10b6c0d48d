import type { IncomingHttpHeaders } from 'node:http';
import type { TransportFailure } from '#contract/attempt-outcome.ts';
import { mediaMaxBytes } from '#contract/media.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { MessageId, TeamId } from '#server/platform/ids.ts';
import type { OutboundHttp, OutboundOutcome } from '#server/platform/outbound-http/outbound-http.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { mediaRedirectsMax, mediaSilenceMs } from './limits.ts';
import { type MediaProblem, MediaWriter, type WrittenMedia } from './media-writer.ts';

/**
 * Reason why media could not be fetched (specification section 3.2). It is stored as one of these words, or with a
 * status as `http_404`.
 */
export type MediaFailure =
  | Exclude<MediaProblem, 'removed'>
  | TransportFailure
  | 'compressed'
  | 'redirects'
  | 'invalid_redirect'
  | 'interrupted'
  | `http_${number}`;

const texts: Readonly<Record<Exclude<MediaFailure, `http_${number}`>, string>> = {
  empty: 'the file has 0 bytes',
  too_large: 'the file is larger than 5 MB',
  unsupported_type: 'the file is of a type that an iPhone does not send; put a link to it into the text',
  compressed: 'the answer was compressed (Content-Encoding), although no compression was asked for',
  redirects: 'the address redirected more than three times',
  invalid_redirect: 'the address redirected to a URL that is not valid, is too long or has a user name',
  interrupted: 'Ownline was killed 20 times while it fetched the file',
  timeout: 'the host sent nothing for 10 seconds, or the file had not arrived in full when the time was up',
  dns: 'no address was found for the name of the host',
  forbidden_address:
    'the address, or a redirect of it, leads to a private network or does not begin with https://',
  connection_refused: 'nothing listens at the address',
  unreachable: 'no network route leads to the address',
  no_network: 'the network of Ownline was down',
  connection_reset: 'the host closed the connection without an answer',
  tls: 'the certificate of the host is not trusted',
  incomplete_answer: 'the connection broke in the middle of the file',
  invalid_answer: 'the host did not answer in HTTP',
  headers_too_large: 'the headers of the answer are larger than 16 KB',
  aborted: 'Ownline was stopped during each attempt',
  internal_error: 'the request failed within Ownline',
};

/** @returns the explanation of a failure, as the end of a sentence */
export function mediaFailureText(failure: string): string {
  const status = /^http_(\d{3})$/.exec(failure)?.[1];
  if (status) return `the address answered with HTTP status ${status}`;
  return Object.hasOwn(texts, failure) ? texts[failure as keyof typeof texts] : 'the fetch failed';
}

/** Transient failures: a further try may succeed. */
const transient: ReadonlySet<MediaFailure> = new Set([
  'timeout',
  'dns',
  'connection_refused',
  'unreachable',
  'no_network',
  'connection_reset',
  'incomplete_answer',
  'aborted',
  'internal_error',
]);

/** Whether a further try may succeed (specification section 3.2). */
export function isTransientMediaFailure(failure: MediaFailure): boolean {
  const status = Number(/^http_(\d{3})$/.exec(failure)?.[1]);
  return transient.has(failure) || status >= 500 || [408, 425, 429].includes(status);
}

interface MediaFetchRequest {
  readonly teamId: TeamId;
  readonly messageId: MessageId;
  readonly url: string;
  readonly signal: AbortSignal;
}

/**
 * Fetches the file of a URL through the SSRF guard and stores it as it arrives (specification section 3.2). Arriving
 * bytes are counted, and never decompressed: Content-Length and Content-Type are not trusted. A failure of the host is
 * returned, not thrown.
 * @returns the file, or why there is none. `removed`: the message left the queue, so its file is not needed
 * @throws if the database could not store the bytes
 */
export async function fetchMedia(
  services: Runtime & { readonly outbound: OutboundHttp },
  { teamId, messageId, url, signal }: MediaFetchRequest,
): Promise<WrittenMedia | MediaFailure | 'removed'> {
  const wantedName = URL.parse(url)?.pathname;
  const writer = new MediaWriter(services, { teamId, messageId, wantedName, isOutbound: true });
  let refused: 'compressed' | 'too_large' | undefined;
  let storeError: unknown;
  const outcome = await services.outbound.send({
    url,
    method: 'GET',
    headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': `Ownline/${productVersion}` },
    timeoutMs: services.config.mediaTimeoutMs,
    silenceMs: mediaSilenceMs,
    signal,
    redirectsMax: mediaRedirectsMax,
    sink: {
      begin: (headers) => {
        refused = refusalOf(headers);
        return refused === undefined;
      },
      write: async (bytes) => {
        failpoint('media arriving');
        try {
          return await writer.write(bytes);
        } catch (error) {
          storeError = error;
          return false;
        }
      },
    },
  });
  if (storeError !== undefined) throw storeError;
  const failure = refused ?? failureOf(services, url, outcome);
  // A writer that refuses the file ends the transfer, which looks like a failure of the host. So the writer's reason is
  // reported.
  return failure !== undefined && writer.problem === undefined ? failure : writer.end();
}

function refusalOf(headers: IncomingHttpHeaders): 'compressed' | 'too_large' | undefined {
  const codings = (headers['content-encoding'] ?? '').toLowerCase().split(',');
  if (codings.some((coding) => !['', 'identity'].includes(coding.trim()))) return 'compressed';
  return Number(headers['content-length']) > mediaMaxBytes ? 'too_large' : undefined;
}

function failureOf(
  { outbound }: { readonly outbound: OutboundHttp },
  url: string,
  outcome: OutboundOutcome,
): MediaFailure | undefined {
  if (outcome.kind === 'failed') return outcome.class;
  if (outcome.status === 200) return undefined;
  const { location } = outcome.headers;
  const isRedirect = [301, 302, 303, 307, 308].includes(outcome.status) && location !== undefined;
  if (!isRedirect) return `http_${outcome.status}`;
  const target = URL.parse(location, url);
  const validated = target && outbound.validate(target.href);
  const isValid = validated && !('refused' in validated && validated.isMalformed);
  return isValid ? 'redirects' : 'invalid_redirect';
}
