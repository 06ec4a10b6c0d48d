import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { History } from './history.ts';
import { faultOfSignature } from './signature.ts';

/** `fine`: 200 at once. `flaky`: every third request fails. `slow`: 200 after a delay. `outages`: at times 503. */
export type Mood = 'fine' | 'flaky' | 'slow' | 'outages';

interface Endpoint {
  readonly webhook: string;
  readonly secret: string;
  readonly mood: Mood;
}

/** The failures of a flaky receiver, in this order; 0 closes the connection. */
const faults = [500, 0, 400, 302, 503];
const [upMs, downMs] = [9_000, 5_000];

/** A file of 700 KB with the header of a JPEG, so that it is stored in several chunks. */
const file = Buffer.alloc(700_000, 'abcdefgh');
Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex').copy(file);

/** The receivers of all webhooks, on one port. They record the bytes of each request and verify its signatures. */
export class Receivers {
  readonly #history: History;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #server: Server;
  /** Whether all receivers answer 200. */
  isHealed = false;
  #requests = 0;

  constructor(history: History) {
    this.#history = history;
    this.#server = createServer((request, response) => {
      this.#take(request, response).catch(() => response.destroy());
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  urlOf(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${path}`;
  }

  /** The URL at which every GET returns a file. */
  get fileUrl(): string {
    return this.urlOf('file.jpg');
  }

  serve(path: string, endpoint: Endpoint): void {
    this.#endpoints.set(`/${path}`, endpoint);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return void response.end(file);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const endpoint = this.#endpoints.get(request.url ?? '');
    const webhook = endpoint?.webhook ?? `no webhook at ${request.url}`;
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    this.#requests += 1;
    const number = this.#requests;
    this.#history.record({
      kind: 'delivery_received',
      request: number,
      webhook,
      headers,
      body: body.toString('base64'),
    });
    const isGenuine = endpoint && faultOfSignature(endpoint.secret, headers, body, Date.now()) === undefined;
    const status = isGenuine ? this.#answerOf(endpoint.mood, number) : 401;
    if (endpoint?.mood === 'slow' && !this.isHealed) await pause(300 * Math.random());
    await answer(response, status);
    this.#history.record({ kind: 'delivery_answered', request: number, webhook, status });
  }

  #answerOf(mood: Mood, number: number): number {
    if (this.isHealed) return 200;
    if (mood === 'flaky' && number % 3 === 0) return faults[(number / 3) % faults.length] ?? 500;
    if (mood === 'outages' && Date.now() % (upMs + downMs) > upMs) return 503;
    return 200;
  }
}

/** Resolves when the answer was sent or the connection is closed. */
async function answer(response: ServerResponse, status: number): Promise<void> {
  if (status === 0) return void response.destroy();
  const left = new Promise((resolve) => response.once('close', resolve));
  response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
  await left;
}
