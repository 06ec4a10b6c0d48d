import type { RunClock } from './run-clock.ts';
import { ActionFailure, type Item, itemsOfJson, parseJson, type Value } from './value.ts';

export interface UrlRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON body of a POST; undefined for a GET. */
  readonly json: Readonly<Record<string, string>> | undefined;
}

/** iOS ends a request after this long without a byte. */
const silenceMaxMs = 60_000;

/**
 * The action Get Contents of URL. Any answer is a result, whatever its HTTP status. JSON becomes a dictionary, plain
 * text a text, and everything else a file.
 * @throws ActionFailure if no complete answer arrived: connection or TLS failure, 60 s of silence
 */
export async function getContentsOfUrl(
  request: UrlRequest,
  fetchUrl: typeof fetch,
  clock: RunClock,
  signal: AbortSignal,
): Promise<Value> {
  if (!/^https?:\/\//.test(request.url) || !URL.canParse(request.url))
    throw new ActionFailure(`"${request.url}" is not a URL`);
  const silence = new AbortController();
  const timeOut = () => silence.abort(new ActionFailure(`${request.url} did not answer in time`));
  let cancel = clock.after(silenceMaxMs, timeOut);
  try {
    const response = await fetchUrl(request.url, {
      method: request.json === undefined ? 'GET' : 'POST',
      headers: {
        ...request.headers,
        ...(request.json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(request.json === undefined ? {} : { body: JSON.stringify(request.json) }),
      signal: AbortSignal.any([signal, silence.signal]),
    });
    const parts: Uint8Array[] = [];
    for await (const part of response.body ?? []) {
      cancel();
      cancel = clock.after(silenceMaxMs, timeOut);
      parts.push(part);
    }
    return { items: itemsOf(response, Buffer.concat(parts)), isDictionaryValue: false };
  } catch (error) {
    if (error instanceof ActionFailure) throw error;
    throw new ActionFailure(`no answer from ${request.url}`, { cause: error });
  } finally {
    cancel();
  }
}

function itemsOf(response: Response, bytes: Buffer): readonly Item[] {
  if (bytes.length === 0) return [];
  const mediaType =
    (response.headers.get('content-type') ?? 'application/octet-stream')
      .split(';')[0]
      ?.trim()
      .toLowerCase() ?? '';
  if (/[/+]json$/.test(mediaType)) {
    const json = parseJson(bytes.toString('utf8'));
    if (json !== undefined) return itemsOfJson(json);
  }
  if (/^text\/plain$|[/+]json$/.test(mediaType)) return [{ kind: 'text', text: bytes.toString('utf8') }];
  return [{ kind: 'file', file: { name: fileName(response.url, mediaType), mediaType, bytes } }];
}

/**
 * A file's name: the URL's last path segment. If its extension does not fit the media type, a fitting one is appended.
 */
function fileName(url: string, mediaType: string): string {
  const last = decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '') || 'file';
  const endings = endingsOf(mediaType);
  if (endings.length === 0 || endings.some((ending) => last.toLowerCase().endsWith(`.${ending}`)))
    return last;
  return `${last}.${endings[0]}`;
}

/**
 * Lists the file endings of a media type. @returns an empty list for an unknown type; the file then keeps the name in
 * its URL
 */
function endingsOf(mediaType: string): readonly string[] {
  const known = knownEndings[mediaType];
  if (known) return known;
  if (/[/+]json$/.test(mediaType)) return ['json'];
  if (/\+xml$/.test(mediaType)) return ['xml'];
  return /^text\//.test(mediaType) ? ['txt'] : [];
}

const knownEndings: Readonly<Record<string, readonly string[]>> = {
  'text/html': ['html', 'htm'],
  'application/xhtml+xml': ['xhtml', 'html'],
  'text/xml': ['xml'],
  'application/xml': ['xml'],
  'text/css': ['css'],
  'text/csv': ['csv'],
  'text/javascript': ['js'],
  'text/vcard': ['vcf'],
  'text/calendar': ['ics'],
  'application/pdf': ['pdf'],
  'image/jpeg': ['jpeg', 'jpg'],
  'image/png': ['png'],
  'image/gif': ['gif'],
  'image/heic': ['heic'],
  'image/heic-sequence': ['heics', 'heic'],
  'image/heif': ['heif'],
  'image/heif-sequence': ['heifs', 'heif'],
  'image/webp': ['webp'],
  'image/tiff': ['tiff', 'tif'],
  'image/bmp': ['bmp'],
  'image/svg+xml': ['svg'],
  'video/mp4': ['mp4'],
  'video/quicktime': ['mov', 'qt'],
  'video/x-m4v': ['m4v'],
  'video/3gpp': ['3gp'],
  'audio/mpeg': ['mp3'],
  'audio/mp4': ['m4a', 'mp4'],
  'audio/x-m4a': ['m4a'],
  'audio/aac': ['aac'],
  'audio/wav': ['wav'],
  'audio/amr': ['amr'],
  'audio/x-caf': ['caf'],
  'audio/aiff': ['aiff', 'aif'],
};
