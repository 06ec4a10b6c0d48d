import type { Runtime } from '#server/database/runtime.ts';
import { dueDeliveriesChannel } from '#server/outbox/append.ts';
import type { WebhookId } from '#server/platform/ids.ts';

/** After the commit of what is due at once. */
export function wakeDispatcher({ database }: Pick<Runtime, 'database'>, webhookId: WebhookId): void {
  database.notify(dueDeliveriesChannel, [webhookId]);
}
