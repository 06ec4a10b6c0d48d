import type { Runtime } from '#server/database/runtime.ts';
import type { WebhookId } from '#server/platform/ids.ts';

/** The notification channel that says that something is due; a sweep stands behind it. */
const dueDeliveriesChannel = 'due_deliveries';

/** After the commit of what is due at once. */
export function wakeDispatcher({ database }: Pick<Runtime, 'database'>, webhookId: WebhookId): void {
  database.notify(dueDeliveriesChannel, [webhookId]);
}
