import { dueDeliveriesChannel } from '#server/database/channels.ts';
import type { ProcessServices, Slice } from '#server/database/slice.ts';
import { wholeLook } from '#server/platform/concurrency/low-water-mark.ts';
import { sweepDeliveries } from '#server/webhooks/queue/pending-deliveries.ts';
import { deliveryRoutes } from './deliveries/delivery-routes.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { webhookRoutes } from './endpoints/routes.ts';

/** Webhooks, and the dispatcher of their deliveries. */
export function openWebhooks(services: ProcessServices): Slice {
  return {
    routes: [...webhookRoutes(services), ...deliveryRoutes(services)],
    jobs: [
      { role: 'deliver', wokenBy: dueDeliveriesChannel, worker: () => new Dispatcher(services) },
      {
        role: 'deliver',
        sweep: 'skip deliveries of webhooks that are off',
        ...wholeLook,
        expiry: 'keeps',
        run: () => sweepDeliveries(services),
      },
    ],
  };
}
