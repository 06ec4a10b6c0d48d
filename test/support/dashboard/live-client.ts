import { Compile } from 'typebox/compile';
import {
  LiveChanged,
  LiveEnded,
  type LiveEventName,
  type LiveEvents,
  LiveHello,
  LiveReload,
} from '#contract/live.ts';
import type { PageClient, TeamMember } from '#test/support/people/people.ts';
import { until } from '#test/support/service/until.ts';

export type ReceivedEvent = {
  readonly [N in LiveEventName]: { readonly name: N; readonly data: LiveEvents[N] };
}[LiveEventName];

const schemas = {
  hello: Compile(LiveHello),
  changed: Compile(LiveChanged),
  reload: Compile(LiveReload),
  ended: Compile(LiveEnded),
};

/** Reads a live stream as a browser does. Every event is checked against its schema. */
export class LiveClient {
  readonly status: number;
  readonly headers: Headers;
  readonly events: ReceivedEvent[] = [];
  comments = 0;
  retryMs: number | undefined;
  /** True once the server has ended the stream, or its connection is closed. */
  isOver = false;
  /** True if the stream's connection was closed in the middle of the answer. */
  isCutOff = false;
  readonly #leaving: AbortController;
  #fault: unknown;
  readonly #read: Promise<void>;

  constructor(response: Response, leaving: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.#leaving = leaving;
    this.#read = this.#readAll(response);
  }

  /** Waits for an event with this name that meets the condition. */
  async next<N extends LiveEventName>(
    name: N,
    fits: (data: LiveEvents[N]) => boolean = () => true,
  ): Promise<LiveEvents[N]> {
    return until(`an event ${name}`, () => {
      if (this.#fault) throw this.#fault;
      return this.all(name).find(fits);
    });
  }

  /** Data of the events with this name that were received so far. */
  all<N extends LiveEventName>(name: N): LiveEvents[N][] {
    return this.events.flatMap((event) => (event.name === name ? [event.data as LiveEvents[N]] : []));
  }

  clear(): void {
    this.events.length = 0;
  }

  async untilOver(): Promise<void> {
    await until('the stream is over', () => this.isOver);
  }

  async close(): Promise<void> {
    this.#leaving.abort();
    await this.#read;
    if (this.#fault) throw this.#fault;
  }

  async #readAll({ body }: Response): Promise<void> {
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      // The stream also ends if its connection is closed, even in the middle of the answer.
      const cutOff = () => {
        this.isCutOff = true;
        return undefined;
      };
      const { value: part } = (await reader?.read().catch(cutOff)) ?? {};
      if (part === undefined) break;
      const blocks = (text + part).split('\n\n');
      text = blocks.pop() ?? '';
      try {
        for (const block of blocks) this.#take(block);
      } catch (error) {
        this.#fault ??= error;
      }
    }
    this.isOver = true;
  }

  #take(block: string): void {
    if (block === ':') this.comments += 1;
    else if (block.startsWith('retry: ')) this.retryMs = Number(block.slice('retry: '.length));
    else {
      const [, name = '', json = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      const data: unknown = JSON.parse(json);
      const schema = schemas[name as LiveEventName];
      if (!schema.Check(data)) throw new Error(`${name} ${json}: ${JSON.stringify(schema.Errors(data)[0])}`);
      this.events.push({ name, data } as ReceivedEvent);
    }
  }
}

/** Opens a live stream, whatever the status of the answer. */
export async function openLive(client: PageClient, path: string): Promise<LiveClient> {
  const leaving = new AbortController();
  const response = await fetch(`${client.baseUrl}${path}`, {
    headers: { cookie: client.cookie, accept: 'text/event-stream' },
    signal: leaving.signal,
  });
  return new LiveClient(response, leaving);
}

/** Opens the live stream of a member's team, and waits for its first event. */
export async function followLive(member: TeamMember): Promise<LiveClient> {
  const client = await openLive(member, member.in('/live'));
  if (client.status !== 200) throw new Error(`the live stream was answered ${client.status}`);
  await client.next('hello');
  return client;
}
