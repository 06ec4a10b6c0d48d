import { useNavigate, useSearch } from '@tanstack/react-router';
import type { EventType } from '#contract/event.ts';
import type { DeliveryStatus } from '#contract/webhook.ts';
import { keyOf, type TypedSearch, textOf } from '#web/api/search-parameters.ts';
import { openedOver } from '#web/shell/leave.ts';
import { deliveryTones } from './delivery-tones.ts';
import { eventPlans } from './event-types.ts';

export interface LogFilters {
  readonly status?: DeliveryStatus;
  readonly event?: EventType;
}

/** Search parameters of a webhook's page: the filters of its log, and the open delivery. */
export interface LogAddress extends LogFilters {
  readonly delivery?: string;
}

export const readLogAddress = ({ status, event, delivery }: TypedSearch): LogAddress => ({
  status: keyOf(deliveryTones, status),
  event: keyOf(eventPlans, event),
  delivery: textOf(delivery),
});

/** @returns the search parameters of the page, and a function that changes some of them */
export function useLogAddress(): readonly [LogAddress, (change: LogAddress) => void] {
  const address = useSearch({ from: '/teams/$teamId/webhooks/$webhookId' });
  const navigate = useNavigate();
  const change = (changed: LogAddress) => {
    // Opening the drawer adds a history entry, so that going back closes the drawer.
    const isOpening = changed.delivery !== undefined && address.delivery === undefined;
    void navigate({
      to: '.',
      search: { ...address, ...changed },
      replace: !isOpening,
      state: isOpening ? openedOver : true,
      resetScroll: false,
    });
  };
  return [address, change];
}
