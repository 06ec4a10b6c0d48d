import { createServer as createPlain, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { closeServer, listenLocally } from '#test/support/proxies/listen-locally.ts';
import { until } from '#test/support/service/until.ts';
import type { TestCertificate } from './certificate.ts';

/** A received request, with its exact bytes. */
export interface ReceivedDelivery {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly path: string;
  /** Time of performance.now(). */
  readonly atMs: number;
}

/** Answers a delivery. If it does not answer, the connection stays open. */
export type Behaviour = (answer: ServerResponse, delivery: ReceivedDelivery) => void;

/** A customer's server that records requests, and answers as a test sets. */
export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>;

export const answering =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (answer) =>
    void answer.writeHead(status, headers).end(body);

export const silent: Behaviour = () => undefined;

export async function startWebhookReceiver(
  options: { readonly behaviour?: Behaviour; readonly certificate?: TestCertificate } = {},
) {
  const { certificate } = options;
  let behaviour = options.behaviour ?? answering(200);
  const received: ReceivedDelivery[] = [];
  let hanging = 0;
  const server = certificate ? createSecure(certificate) : createPlain();
  server.on('request', async (request, answer: ServerResponse) => {
    const atMs = performance.now();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url: path = '', headers } = request;
    const delivery = { method, headers, body: Buffer.concat(chunks), path, atMs };
    received.push(delivery);
    hanging += 1;
    answer.on('close', () => {
      hanging -= 1;
    });
    behaviour(answer, delivery);
  });
  server.keepAliveTimeout = 30_000;
  const port = await listenLocally(server);
  const origin = `http${certificate ? 's' : ''}://127.0.0.1:${port}`;
  return {
    url: `${origin}/hooks`,
    origin,
    port,
    received,
    /** Sets the behaviour from now on. */
    behave: (next: Behaviour) => {
      behaviour = next;
    },
    /** Resolves with all deliveries once at least this number has arrived. */
    count: (deliveries: number) =>
      until(`${deliveries} deliveries arrive`, () => received.length >= deliveries && received),
    /** Number of unanswered deliveries. */
    hanging: () => hanging,
    close: () => closeServer(server),
  };
}
