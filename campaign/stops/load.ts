import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface LoadCounts {
  answered: number;
  /** Requests that were answered 5xx. */
  failed: number;
  /** Requests whose answer broke off on a connection that was open before the stop. */
  cut: number;
  /** Requests whose answer broke off on a connection that was opened after the stop. */
  late: number;
}

const postHead =
  'POST /v1/messages/send HTTP/1.1\r\nHost: a\r\nX-Api-Key: none\r\nContent-Type: application/json\r\n';

/**
 * Incomplete requests of strangers. The headers of the second request suffice to refuse it, while its body arrives
 * slowly.
 */
const unfinishedRequests = [
  'GET /docs HTTP/1.1\r\nHost: a\r\n',
  `${postHead}Content-Length: 1000\r\n\r\n`,
] as const;

/** Clients that send requests without a pause, each on its own connection, and strangers with incomplete requests. */
export class Load {
  readonly counts: LoadCounts = { answered: 0, failed: 0, cut: 0, late: 0 };
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #clients: Promise<void>[];
  readonly #strangers: readonly Stranger[];
  #isOver = false;
  #stopAtMs = Number.POSITIVE_INFINITY;

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl;
    this.#key = key;
    const message = { from: '+14155550100', to: '+14155550101', content: 'Hello' };
    this.#clients = [
      ...Array.from({ length: 4 }, () => this.#repeat('POST', '/v1/messages/send', message)),
      ...Array.from({ length: 2 }, () => this.#repeat('GET', '/v1/messages?limit=20')),
      // A long poll, held until an event arrives or the service stops.
      this.#repeat('GET', '/v1/events?wait=25&limit=1&after='),
    ];
    const port = Number(new URL(baseUrl).port);
    this.#strangers = unfinishedRequests.map((text) => new Stranger(port, text));
  }

  /** Sets the time from which requests may be refused or reset. */
  expectStop(atMs: number): void {
    this.#stopAtMs = atMs;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const stranger of this.#strangers) stranger.end();
    await Promise.all(this.#clients);
  }

  async #repeat(method: string, path: string, body?: unknown): Promise<void> {
    while (!this.#isOver) {
      if ((await this.#ask(method, path, body)) === 'refused') await pause(20);
    }
  }

  #ask(method: string, path: string, body: unknown): Promise<'refused' | 'done'> {
    return new Promise((resolve) => {
      let connectedAtMs: number | undefined;
      const asking = request(`${this.#baseUrl}${path}`, {
        method,
        agent: false,
        headers: {
          'x-api-key': this.#key,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
      });
      const lose = () => {
        if (connectedAtMs !== undefined) this.counts[connectedAtMs < this.#stopAtMs ? 'cut' : 'late'] += 1;
        resolve('refused');
      };
      asking.on('socket', (socket) => socket.once('connect', () => (connectedAtMs = performance.now())));
      asking.on('error', lose);
      asking.on('response', (response) => {
        response.resume();
        response.on('end', () => {
          this.counts.answered += 1;
          if ((response.statusCode ?? 0) >= 500) this.counts.failed += 1;
          resolve('done');
        });
        response.on('error', lose);
      });
      asking.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

/** A connection that sends the beginning of a request and, after complete headers, single bytes of the body. */
class Stranger {
  readonly #socket: Socket;
  readonly #trickle: NodeJS.Timeout;

  constructor(port: number, text: string) {
    this.#socket = connect(port, '127.0.0.1', () => this.#socket.write(text));
    this.#socket.on('error', () => undefined).resume();
    const hasBody = text.endsWith('\r\n\r\n');
    this.#trickle = setInterval(() => hasBody && this.#socket.write(' '), 100);
    this.#socket.once('close', () => clearInterval(this.#trickle));
  }

  end(): void {
    this.#socket.destroy();
  }
}
