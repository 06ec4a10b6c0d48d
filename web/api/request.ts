import { basePath } from './base-path.ts';

/** An error of the API: its sentence is for a person, `param` names the field that it is about. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  /** Further fields of the error: `limit`, `current`, `upgrade_url`, `resets_at`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Seconds, of `retry-after`. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    { code, message, param, ...details }: Readonly<Record<string, unknown>>,
    retryAfter?: number,
  ) {
    super(String(message));
    this.name = 'ApiError';
    this.status = status;
    this.code = String(code);
    this.param = typeof param === 'string' && param !== '' ? param : undefined;
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls an operation of this server. A session that has ended leads to the sign-in page, which leads back.
 * @param path below APP_URL: `/app/account`
 * @throws ApiError for an answer that is not 2xx, and for a connection that failed (status 0)
 */
export async function request<Answer>(
  method: Method,
  path: string,
  { body, headers, signal }: RequestOptions = {},
): Promise<Answer> {
  const response = await fetch(`${basePath}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, {
      code: 'unreachable',
      message: 'Ownline does not answer. Check your connection.',
    });
  });
  const text = await response.text();
  if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer;
  if (response.status === 401 && method === 'GET') signIn();
  throw new ApiError(
    response.status,
    readError(text),
    Number(response.headers.get('retry-after')) || undefined,
  );
}

/** Leaves for the sign-in page, which leads back to this page. */
export function signIn(): void {
  const here = `${location.pathname.slice(basePath.length)}${location.search}`;
  location.assign(`${basePath}/sign-in?next=${encodeURIComponent(here)}`);
}

/** A proxy may answer with a page of its own. */
function readError(text: string): Readonly<Record<string, unknown>> {
  try {
    const { error } = JSON.parse(text) as { readonly error: Readonly<Record<string, unknown>> };
    return error;
  } catch {
    return { code: 'internal_error', message: 'The answer of the server could not be read. Try it again.' };
  }
}
