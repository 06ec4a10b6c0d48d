import { createServer } from 'node:http';
import { run } from 'graphile-worker';
import { Pool } from 'undici';
import type { MessageEventType } from '#contract/event.ts';
import { deliveryHeaders } from '#server/webhooks/dispatch/attempt-delivery.ts';
import { newWebhookSecret } from '#server/webhooks/endpoints/webhook-secret.ts';
import { graphileOptions } from '../graphile-options.ts';

/**
 * The second yardstick of benchmark P4: graphile-worker, whose jobs post the body with the headers and signatures of
 * a delivery. It completes jobs in batches. It has no SSRF guard, and stores no attempts.
 * usage: DATABASE_URL=… node bench/webhooks/yardstick-graphile-worker.ts URL PORT
 */
const [url = '', port = '0'] = process.argv.slice(2);
const connections = 64;
const { origin, pathname } = new URL(url);
const pool = new Pool(origin, { connections, headersTimeout: 10_000, bodyTimeout: 10_000 });
const secrets = { current: newWebhookSecret(), next: undefined };
await run({
  ...graphileOptions(connections, 256, 20),
  taskList: {
    post: async (payload) => {
      const event = payload as { readonly id: string; readonly type: MessageEventType };
      const body = Buffer.from(JSON.stringify(event), 'utf8');
      const about = { eventId: event.id, eventType: event.type, startedAt: new Date(), isTest: false };
      const headers = deliveryHeaders({ ...about, body, secrets });
      const answer = await pool.request({ method: 'POST', path: pathname, headers, body });
      await answer.body.dump();
      if (answer.statusCode >= 300) throw new Error(`the sink answered ${answer.statusCode}`);
    },
  },
});
createServer((_, answer) => answer.end()).listen(Number(port), '127.0.0.1');
