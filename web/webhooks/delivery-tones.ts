import type { DeliveryStatus } from '#contract/webhook.ts';
import type { Tone } from '#web/kit/badge.tsx';

export const deliveryTones: Readonly<Record<DeliveryStatus, Tone>> = {
  pending: 'accent',
  succeeded: 'good',
  failed: 'bad',
  skipped: 'neutral',
};

export const deliveryStatuses = Object.keys(deliveryTones) as DeliveryStatus[];
