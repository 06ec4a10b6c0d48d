import { startWebhookReceiver } from './webhook-receiver.ts';

/** A customer's server with an address that accepts events and one that fails. */
export async function startSwitchingReceiver() {
  const receiver = await startWebhookReceiver({
    behaviour: (answer, { path }) => {
      const isBroken = path === '/broken';
      answer
        .writeHead(isBroken ? 503 : 200, { 'content-type': 'application/json' })
        .end(isBroken ? '{"error":"The table of events is full."}' : '{"ok":true}');
    },
  });
  // The broken address answers 503.
  return { ...receiver, brokenUrl: `http://127.0.0.1:${receiver.port}/broken` };
}
