import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

export interface SwitchingReceiver extends WebhookReceiver {
  /** An address that answers 503. */
  readonly brokenUrl: string;
}

/** A customer's server with an address that accepts events and one that fails. */
export async function startSwitchingReceiver(): Promise<SwitchingReceiver> {
  const receiver = await startWebhookReceiver({
    behaviour: (answer, { path }) => {
      const isBroken = path === '/broken';
      answer
        .writeHead(isBroken ? 503 : 200, { 'content-type': 'application/json' })
        .end(isBroken ? '{"error":"The table of events is full."}' : '{"ok":true}');
    },
  });
  return { ...receiver, brokenUrl: `http://127.0.0.1:${receiver.port}/broken` };
}
