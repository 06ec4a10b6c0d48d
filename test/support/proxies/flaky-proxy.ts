import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { until } from '#test/support/service/until.ts';
import { closeServer, listenLocally } from './listen-locally.ts';

/** Fault of the next poll or inbound message. `lose_hand_out` waits for the next poll that hands a message out. */
export type Mishap =
  /** Reads the answer with a message to its end, discards it, and breaks the phone's connection. */
  | 'lose_hand_out'
  /** Sends the poll to the server twice. The phone gets the second answer. */
  | 'repeat_poll'
  /** Answers with a page of the proxy. The server never gets the poll. */
  | 'error_page'
  /** Replaces the server's answer with a page of the proxy. */
  | 'lose_answer';

export type FlakyProxy = Awaited<ReturnType<typeof startFlakyProxy>>;

/** Starts an HTTP proxy between a phone and the server that makes faults on request. */
export async function startFlakyProxy(firstTarget: string) {
  let target = firstTarget;
  const mishapsOf = { poll: [] as Mishap[], inbound: [] as Mishap[] };
  const unanswered = new Map<ServerResponse, { readonly path: string; readonly deviceToken: string }>();
  const server = createServer((request, response) => {
    const deviceToken = String(request.headers['x-device-token'] ?? '');
    unanswered.set(response, { path: request.url ?? '', deviceToken });
    response.once('close', () => unanswered.delete(response));
    forward(request, response).catch(() => response.destroy());
  });

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const send = () =>
      fetch(`${target}${request.url}`, {
        method: request.method ?? 'POST',
        headers: { 'x-device-token': String(request.headers['x-device-token'] ?? '') },
        body,
      });
    const mishaps = request.url?.endsWith('/poll') ? mishapsOf.poll : mishapsOf.inbound;
    const mishap = mishaps[0] !== 'lose_hand_out' ? mishaps.shift() : undefined;
    const answerWithPage = () =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
    if (mishap === 'error_page') {
      answerWithPage();
      return;
    }
    const first = send();
    let text = await (await first).text();
    if (mishap === 'lose_answer') {
      answerWithPage();
      return;
    }
    if (mishaps[0] === 'lose_hand_out' && text.includes('"send"')) {
      mishaps.shift();
      response.destroy();
      return;
    }
    if (mishap === 'repeat_poll') text = await (await send()).text();
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  }

  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    /** Sets the fault of the next poll, or of the next inbound message. */
    next: (mishap: Mishap, call: 'poll' | 'inbound' = 'poll') => void mishapsOf[call].push(mishap),
    /** Sends further calls to another process of the service. */
    retarget: (newTarget: string) => {
      target = newTarget;
    },
    /** Resets a phone's connection during a poll. Between two polls the phone would reconnect without noticing. */
    breakPoll: (deviceToken: string) =>
      until('the phone polls', () => {
        const [polled] =
          [...unanswered].find(
            ([response, call]) =>
              call.deviceToken === deviceToken && call.path.endsWith('/poll') && !response.writableEnded,
          ) ?? [];
        polled?.destroy();
        return polled !== undefined;
      }).then(() => undefined),
    close: () => closeServer(server),
  };
}
