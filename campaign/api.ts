import { setTimeout as pause } from 'node:timers/promises';

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** {} where the body is no JSON object. */
  readonly json: Readonly<Record<string, unknown>>;
}

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const answerWithinMs = 40_000;

/** One API key, or one device: calls that may fail, and calls that are repeated until they were answered. */
export class Api {
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(baseUrl: string, headers: Readonly<Record<string, string>>) {
    this.#baseUrl = baseUrl;
    this.#headers = headers;
  }

  /** @throws where the connection is lost or nothing is answered in time */
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
      signal: signal ? AbortSignal.any([limit, signal]) : limit,
    });
    const text = await response.text();
    return { status: response.status, text, json: parseObject(text) };
  }

  /** Repeats a call until it was answered by anything but a fault of the server. */
  async insist(call: Call): Promise<Answer> {
    for (;;) {
      const answer = await this.call(call).catch(() => undefined);
      if (call.signal?.aborted) throw call.signal.reason;
      if (answer && answer.status < 500) return answer;
      await pause(50);
    }
  }

  /** The same, where only a success will do. @throws with what was answered instead */
  async get(path: string, signal?: AbortSignal): Promise<Answer['json']> {
    const answer = await this.insist({ method: 'GET', path, ...(signal ? { signal } : {}) });
    if (answer.status !== 200) throw new Error(`GET ${path} was answered ${answer.status}: ${answer.text}`);
    return answer.json;
  }
}

/** The items of a page, each an object. */
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
