import { eventTypes } from '#contract/event.ts';
import type { ApiClient } from '#test/support/service/api-client.ts';

/** Creates webhooks for all events, at numbered URLs that begin alike. */
export async function subscribe(api: ApiClient, url: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const made = await api.post('/v1/webhooks', { url: `${url}${n}`, events: eventTypes });
    if (made.status !== 201) throw new Error(`the webhook was not created: ${made.text}`);
  }
}
