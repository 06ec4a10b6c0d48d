import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';

/** Answers of a server to polls. */
export const idle = { action: 'idle', session: 'ses_1', wait: '0' };
export const send = {
  action: 'send',
  session: 'ses_1',
  id: 'msg_1',
  to: '+12125550100',
  text: 'Hello',
  media: 'none',
  wait: '0',
};
const stop = { action: 'stop', session: 'none', reason: 'deleted' };

/**
 * Starts a server that gives these answers to polls, one after the other, and then a stop. A string stands for the
 * page of a proxy.
 * @param answerOther answers each request that is not a poll
 */
export async function startScriptedServer(
  context: TestContext,
  answers: readonly (object | string)[],
  answerOther: (response: ServerResponse, path: string) => void = (response) => response.destroy(),
) {
  const left = [...answers, stop];
  const server = await startWebhookReceiver({
    behaviour: (response, { path }) => {
      if (path !== '/v1/device/poll') return answerOther(response, path);
      const answer = left.shift();
      if (typeof answer === 'string') response.setHeader('content-type', 'text/html').end(answer);
      else response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    },
  });
  context.after(() => server.close());
  /** Bodies of the polls so far. */
  const polls = () =>
    server.received
      .filter(({ path }) => path === '/v1/device/poll')
      .map(({ body }) => JSON.parse(String(body)));
  return { origin: server.origin, received: server.received, polls };
}
