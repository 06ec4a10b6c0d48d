import { ApiError, readAnswer, readError } from './api-answer.ts';
import { basePath } from './base-path.ts';
import { signIn } from './signed-out.ts';
import { texts } from './texts.ts';

export { ApiError } from './api-answer.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface RequestOptions {
  /** A value that is sent as JSON, or a file that is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls an operation of this server. A GET that is answered 401 opens the sign-in page, which leads back.
 * @param path below APP_URL: `/app/account`
 * @throws ApiError for an answer that is not 2xx, and for a failed connection (status 0)
 */
export async function request<Answer>(
  method: Method,
  path: string,
  { body, headers, signal }: RequestOptions = {},
): Promise<Answer> {
  const isJson = body !== undefined && !(body instanceof Blob);
  const response = await fetch(`${basePath}${path}`, {
    method,
    headers: { ...(isJson && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { code: 'unreachable', message: texts.unreachable });
  });
  const text = await response.text();
  if (response.ok) return readAnswer(response.status, text) as Answer;
  if (response.status === 401 && method === 'GET') signIn();
  throw new ApiError(
    response.status,
    readError(text),
    Number(response.headers.get('retry-after')) || undefined,
  );
}
