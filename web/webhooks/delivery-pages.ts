import type { DeliveryLog } from '#contract/webhook.ts';

/** Loaded pages of a delivery log, newest first. */
export interface DeliveryPages {
  readonly pages: readonly DeliveryLog[];
  readonly pageParams: readonly unknown[];
}

/**
 * Merges the newest page into the loaded ones. If more deliveries were added than a page holds, the older pages are
 * dropped, because the deliveries in between are not loaded.
 */
export function withNewest(before: DeliveryPages, newest: DeliveryLog): DeliveryPages {
  const [first, ...older] = before.pages;
  const newestKnownId = before.pages.flatMap(({ deliveries }) => deliveries)[0]?.id ?? '';
  // Ids sort by time. A cursor is the last id of its page.
  if (!first || !newest.has_more || newestKnownId < newest.cursor) {
    return { pages: [newest], pageParams: before.pageParams.slice(0, 1) };
  }
  const isOlder = ({ id }: { readonly id: string }) => id < newest.cursor;
  const kept = [first, ...older].map((page) => ({ ...page, deliveries: page.deliveries.filter(isOlder) }));
  return {
    ...before,
    pages: kept.map((page, index) =>
      index === 0 ? { ...page, deliveries: [...newest.deliveries, ...page.deliveries] } : page,
    ),
  };
}
