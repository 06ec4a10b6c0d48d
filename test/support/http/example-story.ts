import assert from 'node:assert/strict';
import type { Example } from '#server/http/example.ts';
import type { Route } from '#server/http/route.ts';
import type { ApiAnswer, ApiClient } from '#test/support/service/api-client.ts';
import { ExampleValues } from './example-values.ts';

type RawBody = string | Uint8Array<ArrayBuffer>;

interface StoryServices {
  readonly routes: readonly Route[];
  readonly api: ApiClient;
  /** Address that stands for the URL of the examples' receiver. */
  readonly receiverUrl: string;
}

/** Sends the requests of the API reference's examples in the order of a story, and compares the answers. */
export class ExampleStory {
  /** Names of the examples that were sent, such as `sendMessage text`. */
  readonly told = new Set<string>();
  readonly values: ExampleValues;
  readonly #operations: ReadonlyMap<string, Route>;
  readonly #api: ApiClient;

  constructor({ routes, api, receiverUrl }: StoryServices) {
    const documented = routes.filter(({ audience }) => audience === 'api');
    this.#operations = new Map(documented.map((route) => [route.text?.operationId ?? '', route]));
    this.#api = api;
    this.values = new ExampleValues(receiverUrl);
  }

  get operations(): ReadonlyMap<string, Route> {
    return this.#operations;
  }

  /** Names of all examples of all operations. */
  get examples(): readonly string[] {
    return [...this.#operations].flatMap(([operation, { text }]) =>
      Object.keys(text?.examples ?? {}).map((name) => `${operation} ${name}`),
    );
  }

  /**
   * Sends an example's request and compares the answer.
   * @param api another client than the team's
   * @param rawBody a body in place of the example's
   */
  tell(operationId: string, name: string, api = this.#api, rawBody?: RawBody): Promise<ApiAnswer> {
    const route = this.#operations.get(operationId);
    const example = route?.text?.examples[name];
    if (!route || !example) throw new Error(`there is no example ${operationId} ${name}`);
    this.told.add(`${operationId} ${name}`);
    return this.check(route, example, api, rawBody);
  }

  /** Sends a request to an operation and compares the answer with an example of any operation. */
  async check(route: Route, example: Example, api = this.#api, rawBody?: RawBody): Promise<ApiAnswer> {
    const { params, query = {}, headers = {}, body } = this.values.real(example);
    const path = route.path.replaceAll(/:(\w+)/g, (_match, name: string) =>
      encodeURIComponent(params?.[name] ?? 'none'),
    );
    const parameters = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const address = parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
    const sent = rawBody === undefined ? { body } : { rawBody };
    const answer = await api.request(route.method, address, { ...sent, headers });
    const what = `${route.text?.operationId}: ${example.summary}\n${answer.status} ${answer.text}`;
    this.compare(answer.json, example.answer, what);
    assert.equal(answer.status, example.status, what);
    return answer;
  }

  compare(actual: unknown, example: unknown, what: string): void {
    const expected = this.values.withReceiver(example);
    assert.deepEqual(this.values.fictional(actual, expected), expected, what);
    assert.deepEqual(this.values.timesOutOfOrder(actual, expected), [], what);
  }
}
