import { type Dispatcher, request } from 'undici';

export type HttpAnswer = Awaited<ReturnType<typeof httpRequest>>;

interface HttpOptions {
  readonly method: string;
  /** A header that is undefined is not sent. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request and follows no redirect. Tests send them by the ten thousand, and `fetch` costs twice the CPU. */
export async function httpRequest(
  url: string | URL,
  { method, headers: sent = {}, body: content, signal }: HttpOptions,
) {
  const asked = { headers: sent, body: content ?? null, signal: signal ?? null };
  const { statusCode, headers, body } = await request(url, {
    ...asked,
    method: method as Dispatcher.HttpMethod,
  });
  const answered = new Headers();
  for (const [name, values = []] of Object.entries(headers))
    for (const value of [values].flat()) answered.append(name, value);
  return { status: statusCode, headers: answered, text: await body.text() };
}
