import type { DeliveryLog } from '#contract/webhook.ts';

/** The pages of a log of deliveries that were read, newest first. */
export interface DeliveryPages {
  readonly pages: readonly DeliveryLog[];
  readonly pageParams: readonly unknown[];
}

/**
 * Puts the newest page into what was read, whose older part stays. Where more came meanwhile than a page holds, the older part is
 * dropped, and can be read again.
 */
export function withNewest(before: DeliveryPages, newest: DeliveryLog): DeliveryPages {
  const [first, ...older] = before.pages;
  const newestKnownId = before.pages.flatMap(({ deliveries }) => deliveries)[0]?.id ?? '';
  // Ids sort by time, and a cursor is the id up to which was read.
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
