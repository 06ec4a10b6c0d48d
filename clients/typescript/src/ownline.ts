import { randomUUID } from 'node:crypto';
import createClient, { type Client, type MaybeOptionalInit } from 'openapi-fetch';
import type { PathsWithMethod, RequiredKeysOf, SuccessResponseJSON } from 'openapi-typescript-helpers';
import type { Cursor } from './cursor.ts';
import type {
  AcceptedMessage,
  Event,
  ImportedContacts,
  Message,
  MessageDetail,
  paths,
  SendMessageRequest,
  UploadedMedia,
} from './openapi.ts';
import { retryingFetch } from './retrying-fetch.ts';

export { type Cursor, fileCursor } from './cursor.ts';
export type * from './openapi.ts';
export { OwnlineError, type OwnlineErrorCode } from './ownline-error.ts';
export * as webhooks from './webhooks.ts';

export interface OwnlineOptions {
  /** The address of the server. By default the environment's OWNLINE_URL. */
  readonly url?: string;
  /** By default the environment's OWNLINE_API_KEY. */
  readonly apiKey?: string;
  /** Tries of a request in all, 7 by default. The waits between 7 tries are 15.75 to 31.5 s in total. */
  readonly triesMax?: number;
  /** Time for one try in milliseconds, 60,000 by default. The reader of events adds the 25 s that a request may wait. */
  readonly timeoutMs?: number;
}

type Method = 'get' | 'put' | 'post' | 'delete';
type Init<P extends keyof paths, M extends Method> = NonNullable<MaybeOptionalInit<paths[P], M>>;
type InitArgument<I> = RequiredKeysOf<I> extends never ? [init?: I] : [init: I];
type Answer<P extends keyof paths, M extends Method> = SuccessResponseJSON<NonNullable<paths[P][M]>>;

type QueryOf<P extends keyof paths> = NonNullable<NonNullable<paths[P]['get']>['parameters']['query']>;
/** Paths of the lists that come in pages. */
type PagedPath = {
  [P in PathsWithMethod<paths, 'get'>]: [QueryOf<P>] extends [never]
    ? never
    : 'cursor' extends keyof QueryOf<P>
      ? P
      : never;
}[PathsWithMethod<paths, 'get'>];
type ItemOf<Page> = { [F in keyof Page]: Page[F] extends readonly (infer Item)[] ? Item : never }[keyof Page];

/** The longest time for which a request waits for an event. */
const eventWaitSeconds = 25;
/** The address of a server: the paths of operations follow its host. */
const urlPattern = /^https?:\/\/(\[[\da-f:.]+\]|[^\s/:?#@[\]]+)(:\d+)?\/?$/i;

type FileBody = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

interface ReadEventsOptions {
  readonly cursor?: Cursor;
  readonly signal?: AbortSignal;
  readonly onGap?: (after: string) => void | Promise<void>;
}

/** A client of the API of an Ownline server. */
export class Ownline {
  readonly #api: Client<paths, 'application/json'>;
  /** Repeats a request until the server answers it. */
  readonly #patientFetch: (request: Request) => Promise<Response>;

  constructor(options: OwnlineOptions = {}) {
    const { url = process.env.OWNLINE_URL, apiKey = process.env.OWNLINE_API_KEY } = options;
    const { triesMax = 7, timeoutMs = 60_000 } = options;
    if (!url || !apiKey) throw new TypeError('Set OWNLINE_URL and OWNLINE_API_KEY, or pass url and apiKey.');
    if (!urlPattern.test(url))
      throw new TypeError(
        `The url must be like https://example.com or http://127.0.0.1:3000, without a path, not ${url}.`,
      );
    this.#patientFetch = retryingFetch({
      triesMax: Number.POSITIVE_INFINITY,
      timeoutMs: timeoutMs + eventWaitSeconds * 1_000,
      backoffMaxMs: 5_000,
    });
    this.#api = createClient({
      baseUrl: url,
      headers: { 'x-api-key': apiKey },
      fetch: retryingFetch({ triesMax, timeoutMs, backoffMaxMs: 30_000 }),
    });
  }

  readonly messages = {
    /**
     * Sends a message. Retries have the same Idempotency-Key, so that the message is sent once at most.
     * @param options.idempotencyKey a key that you stored, if a send has to survive a crash of your program
     */
    send: (
      message: SendMessageRequest,
      { idempotencyKey = randomUUID() as string } = {},
    ): Promise<AcceptedMessage> =>
      this.request('post', '/v1/messages/send', {
        body: message,
        params: { header: { 'Idempotency-Key': idempotencyKey } },
      }),
    /** All messages that match, newest first. `limit` is the size of a page. */
    list: (query: Omit<QueryOf<'/v1/messages'>, 'cursor'> = {}): AsyncGenerator<Message, void> =>
      this.pages('/v1/messages', { params: { query } }),
    /** Messages with the words or the contact of `q`, newest first. */
    search: (query: Omit<QueryOf<'/v1/messages/search'>, 'cursor'>): AsyncGenerator<Message, void> =>
      this.pages('/v1/messages/search', { params: { query } }),
    get: (id: string): Promise<MessageDetail> =>
      this.request('get', '/v1/messages/{id}', { params: { path: { id } } }),
    cancel: (id: string): Promise<MessageDetail> =>
      this.request('post', '/v1/messages/{id}/cancel', { params: { path: { id } } }),
  };

  readonly media = {
    /**
     * Uploads a file of at most 5 MB, and returns the id for `media_id` of a message.
     * @param query.name the recipient may see it
     */
    upload: (file: FileBody, query: { readonly name?: string } = {}): Promise<UploadedMedia> =>
      this.request('post', '/v1/media', { params: { query }, ...fileInit(file) }),
  };

  readonly contacts = {
    /**
     * Imports the people of a CSV file or of vCards, of at most 5 MB.
     * @param query.preview true changes nothing, and lists changes
     */
    import: (file: FileBody, query: { readonly preview?: boolean } = {}): Promise<ImportedContacts> =>
      this.request('post', '/v1/contacts/import', { params: { query }, ...fileInit(file) }),
  };

  readonly events = {
    /**
     * Reads events, oldest first, and waits for new ones without an end. An event counts as handled when the next one
     * is asked for; its id is then saved in the cursor. After a crash the reader continues after the saved event: each
     * event arrives at least once. While the server fails, the reader tries again after 5 s at most, or as
     * `Retry-After` says, up to two minutes.
     *
     * An event may be missing if the server deleted it before it was read, or was restored from a backup. The reader
     * then calls `onGap`, and goes on with the events that are left. Without `onGap` it emits a process warning.
     * @param options.onGap gets the id of the event after which others may be missing; it may be called again with the
     * same id
     * @param options.cursor where the reader continues, such as `fileCursor(path)`. Without one it begins with the
     * oldest
     * @param options.signal ends the reader
     */
    read: (options: ReadEventsOptions = {}) => this.#readEvents(options),
  };

  /**
   * Makes a request of any operation: `request('get', '/v1/numbers/{id}', { params: { path: { id } } })`.
   * @throws OwnlineError; TypeError for an id that would change the path of the request
   */
  async request<M extends Method, P extends PathsWithMethod<paths, M>>(
    method: M,
    path: P,
    ...init: InitArgument<Init<P, M>>
  ): Promise<Answer<P, M>> {
    // The types of openapi-fetch are resolved for a single path only; here the path is a type parameter.
    const request = this.#api.request as unknown as (
      method: M,
      path: P,
      ...init: InitArgument<Init<P, M>>
    ) => Promise<{ readonly data: Answer<P, M> }>;
    refuseDots(init);
    return (await request(method, path, ...init)).data;
  }

  /** Iterates over all items of a list that comes in pages: `pages('/v1/opt-outs')`. `limit` is the size of a page. */
  async *pages<P extends PagedPath>(
    path: P,
    ...init: InitArgument<Init<P, 'get'>>
  ): AsyncGenerator<ItemOf<Answer<P, 'get'>>, void> {
    const [given] = init as [{ params?: { query?: object } }?];
    // The list's field is named after the noun at the end of the path, such as `opt_outs`. Later releases of the server
    // may add other fields.
    const name = path
      .replace(/\/search$/, '')
      .replace(/^.*\//, '')
      .replaceAll('-', '_');
    let cursor = '';
    for (;;) {
      const next = { ...given, params: { ...given?.params, query: { ...given?.params?.query, cursor } } };
      const page: unknown = await this.request(
        'get',
        path,
        ...([next] as unknown as InitArgument<Init<P, 'get'>>),
      );
      const { cursor: following, has_more, [name]: items } = page as Readonly<Record<string, unknown>>;
      yield* items as ItemOf<Answer<P, 'get'>>[];
      if (!has_more) return;
      cursor = following as string;
    }
  }

  async *#readEvents({ cursor, signal, onGap = warnOfGap }: ReadEventsOptions): AsyncGenerator<Event, void> {
    let after = await cursor?.load();
    let isInGap = false;
    while (!signal?.aborted) {
      const query = { wait: eventWaitSeconds, ...(after ? { after } : {}) };
      const options = { params: { query }, fetch: this.#patientFetch, ...(signal ? { signal } : {}) };
      const page = await this.request('get', '/v1/events', options).catch((error: unknown) => {
        if (signal?.aborted) return undefined;
        throw error;
      });
      // Further pages may report the same gap, until an event after it was read.
      if (page?.gap && after && !isInGap) await onGap(after);
      isInGap = page?.gap ?? false;
      for (const event of page?.events ?? []) {
        yield event;
        after = event.id;
        await cursor?.save(event.id);
        if (signal?.aborted) return;
      }
    }
  }
}

/** The parts of a request whose body is a file. */
function fileInit(file: FileBody) {
  return {
    body: file,
    bodySerializer: (body: unknown) => body,
    headers: { 'content-type': 'application/octet-stream' },
    duplex: 'half',
  } as const;
}

/** URLs with the segments `.` and `..` lead to other paths, and an empty segment leads to a list. */
function refuseDots([init]: readonly unknown[]): void {
  const { params } = (init ?? {}) as { readonly params?: { readonly path?: object } };
  for (const [name, value] of Object.entries(params?.path ?? {}))
    if (/^\.{0,2}$/.test(String(value)))
      throw new TypeError(`${name} must be an id of the API, not "${value}".`);
}

function warnOfGap(after: string): void {
  process.emitWarning(`Events after ${after} may be missing: the server no longer has them.`, 'OwnlineGap');
}
