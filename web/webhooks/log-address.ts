import { useNavigate, useSearch } from '@tanstack/react-router';
import type { EventType } from '#contract/event.ts';
import type { DeliveryStatus } from '#contract/webhook.ts';
import { openedOver } from '#web/shell/leave.ts';
import { statusTexts } from './delivery-text.ts';
import { eventTexts } from './event-texts.ts';

export interface LogFilters {
  readonly status?: DeliveryStatus;
  readonly event?: EventType;
}

/** Search parameters of a webhook's page: the filters of its log, and the open delivery. */
export interface LogAddress extends LogFilters {
  readonly delivery?: string;
}

/** Reads the search parameters of the page. @returns the valid parameters, and a function that changes some of them */
export function useLogAddress(): readonly [LogAddress, (change: LogAddress) => void] {
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>;
  const navigate = useNavigate();
  const { status, event, delivery } = search;
  const address: LogAddress = {
    ...(typeof status === 'string' && status in statusTexts ? { status: status as DeliveryStatus } : {}),
    ...(typeof event === 'string' && event in eventTexts ? { event: event as EventType } : {}),
    ...(typeof delivery === 'string' ? { delivery } : {}),
  };
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
