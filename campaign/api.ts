import { setTimeout as pause } from 'node:timers/promises';

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The parsed body; {} if the body is no JSON object. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly retryAfter: string | null;
}

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const answerWithinMs = 40_000;
const repeatAfterMs = 100;

/** An HTTP client with one credential. `call` may fail; `insist` repeats until the server answers. */
export class Api {
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #over: AbortSignal;

  /** Makes a client. @param over aborts all calls and waits of this client */
  constructor(baseUrl: string, headers: Readonly<Record<string, string>>, over: AbortSignal) {
    this.#baseUrl = baseUrl;
    this.#headers = headers;
    this.#over = over;
  }

  /** Pauses before a call is repeated. @throws once `over` is aborted */
  async again(): Promise<void> {
    await pause(repeatAfterMs, undefined, { signal: this.#over });
  }

  /** Makes a call. @throws if the connection is lost or the answer takes too long */
  async call({ method, path, body, headers, signal }: Call): Promise<Answer> {
    const limit = AbortSignal.timeout(answerWithinMs);
    const response = await fetch(`${this.#baseUrl}${path}`, {
      method,
      headers: {
        ...this.#headers,
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([limit, this.#over, ...(signal ? [signal] : [])]),
    });
    const text = await response.text();
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, text, json: parseObject(text), retryAfter };
  }

  /** Repeats a call until the answer is anything but a 5xx. */
  async insist(call: Call): Promise<Answer> {
    for (;;) {
      const answer = await this.call(call).catch(() => undefined);
      if (answer && answer.status < 500) return answer;
      await this.again();
    }
  }

  /** Repeats a GET until the answer is anything but a 5xx. @throws if the answer is no 200 */
  async get(path: string): Promise<Answer['json']> {
    const answer = await this.insist({ method: 'GET', path });
    if (answer.status !== 200) throw new Error(`GET ${path} was answered ${answer.status}: ${answer.text}`);
    return answer.json;
  }
}

export function itemsOf(page: Answer['json'], field: string): Readonly<Record<string, unknown>>[] {
  const items = page[field];
  return Array.isArray(items) ? items : [];
}

function parseObject(text: string): Answer['json'] {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}
