import type { IncomingHttpHeaders } from 'node:http';
import type { Runtime } from '#server/database/runtime.ts';
import type { MessageId, TeamId } from '#server/platform/ids/ids.ts';
import type { OutboundHttp, OutboundOutcome } from '#server/platform/outbound-http/outbound-http.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { mediaMaxBytes, mediaRedirectsMax, mediaSilenceMs } from './limits.ts';
import type { MediaFailure } from './media-failure.ts';
import { MediaWriter, type WrittenMedia } from './media-writer.ts';

/** Result of one try to fetch a file. `removed`: the message left the queue, so its file is not needed. */
export type MediaFetchResult =
  | { readonly kind: 'written'; readonly written: WrittenMedia }
  | { readonly kind: 'failed'; readonly failure: MediaFailure }
  | { readonly kind: 'removed' };

interface MediaFetchRequest {
  readonly teamId: TeamId;
  readonly messageId: MessageId;
  readonly url: string;
  /** Time-out, from the DNS look-up to the last byte, redirects included. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called before each write of bytes to the database. */
  readonly onBytes: () => void;
}

/**
 * Fetches the file of a URL through the SSRF guard and stores it as it arrives (specification section 3.2). Arriving
 * bytes are counted, and never decompressed: Content-Length and Content-Type are not trusted. A failure of the host is
 * returned, not thrown.
 * @throws if the database could not store the bytes
 */
export async function fetchMedia(
  services: Runtime & { readonly outbound: OutboundHttp },
  request: MediaFetchRequest,
): Promise<MediaFetchResult> {
  const { teamId, messageId, url, timeoutMs, signal } = request;
  const wantedName = URL.parse(url)?.pathname;
  const writer = new MediaWriter(services, { teamId, messageId, wantedName, isOutbound: true });
  let refused: 'compressed' | 'too_large' | undefined;
  let storeError: unknown;
  const outcome = await services.outbound.send({
    url,
    method: 'GET',
    headers: {
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': `Ownline/${productVersion}`,
    },
    timeoutMs,
    silenceMs: mediaSilenceMs,
    signal,
    redirectsMax: mediaRedirectsMax,
    sink: {
      begin: (headers) => {
        refused = refusalOf(headers);
        return refused === undefined;
      },
      write: async (bytes) => {
        request.onBytes();
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
  if (failure !== undefined && writer.problem === undefined) return { kind: 'failed', failure };
  return mediaResultOf(writer);
}

/** Writes the rest of a file. */
export async function mediaResultOf(writer: MediaWriter): Promise<MediaFetchResult> {
  const written = await writer.end();
  if (written === 'removed') return { kind: 'removed' };
  return typeof written === 'string' ? { kind: 'failed', failure: written } : { kind: 'written', written };
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
