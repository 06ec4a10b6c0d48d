import { type HttpAnswer, httpRequest } from '#test/support/http/http-request.ts';
import { destinationOf, throwViolations } from '#test/support/http/through-referees.ts';

export interface ApiAnswer extends HttpAnswer {
  /** Parsed body, which tests read with `field`. */
  readonly json: Record<string, unknown>;
}

interface RequestOptions {
  /** A value that is sent as JSON; bytes are sent as they are. */
  readonly body?: unknown;
  readonly rawBody?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Values of the canary team (test/support/service/canary.ts), which no other client may ever see. */
export const canaryMark = 'kanari7f3a9';
export const canaryPhone = '+14155550198';

/** A client of /v1 as a customer would write it: it uses HTTP only, and no code of the server. */
export class ApiClient {
  readonly baseUrl: string;
  readonly key: string;

  constructor(baseUrl: string, key: string) {
    this.baseUrl = baseUrl;
    this.key = key;
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<ApiAnswer> {
    const { body: value, rawBody } = options;
    const json = () => (value === undefined ? undefined : JSON.stringify(value));
    const body = rawBody ?? (value instanceof Uint8Array ? value : json());
    const destination = destinationOf(this.baseUrl, path, body);
    const answer = await httpRequest(`${destination.origin}${path}`, {
      method,
      headers: {
        ...destination.headers,
        ...(this.key === '' ? {} : { 'x-api-key': this.key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body,
    });
    throwViolations(answer.headers, `${method} ${path}`);
    this.checkAnswer(answer.text, method, path);
    const isJson = answer.headers.get('content-type')?.includes('json');
    return { ...answer, json: isJson ? JSON.parse(answer.text) : {} };
  }

  protected checkAnswer(text: string, method: string, path: string): void {
    if (text.includes(canaryMark) || text.includes(canaryPhone)) {
      throw new Error(`${method} ${path} showed something of the canary team: ${text}`);
    }
  }

  get(path: string): Promise<ApiAnswer> {
    return this.request('GET', path);
  }

  post(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<ApiAnswer> {
    return this.request('POST', path, { body, headers });
  }

  put(path: string, body: unknown): Promise<ApiAnswer> {
    return this.request('PUT', path, { body });
  }

  delete(path: string): Promise<ApiAnswer> {
    return this.request('DELETE', path);
  }

  /** Sends a message. @throws unless it is accepted @returns the id of the message */
  async send(
    message: { from: string; to: string; content: string },
    idempotencyKey?: string,
  ): Promise<string> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    const answer = await this.post('/v1/messages/send', message, headers);
    if (answer.status !== 202) throw new Error(`the send was answered ${answer.status}: ${answer.text}`);
    return String(answer.json.id);
  }
}

/** A value in an answer by its path: `field(answer.json, 'error.param')`. Undefined if it is missing. */
export function field(json: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }, json);
}
