import type { ChangeListener, Changes } from '#server/dashboard/changes.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { LongPoll, LongPolls } from '#server/platform/concurrency/long-poll.ts';
import type { MessageId, NumberId, SetupLinkId } from '#server/platform/ids/ids.ts';
import { heldProgressMax, lockTestIntervalMs, progressHoldMs } from './limits.ts';
import type { Setup } from './read-setup.ts';

/** The long polls of setup pages that this process holds. */
export class ProgressRequests extends LongPolls<SetupLinkId> {
  constructor() {
    super(heldProgressMax);
  }
}

export type ProgressServices = Pick<Runtime, 'clock'> & {
  readonly changes: Changes;
  readonly progressRequests: ProgressRequests;
};

/** The state that a page shows; `version` identifies it. */
interface Progress {
  readonly version: string;
  /** The page's test text; changes of other messages are ignored. */
  readonly messageId: MessageId | null;
  /** True during a lock test, whose state changes without a notification, because polls send none. */
  readonly isLocking: boolean;
}

export type ProgressOutcome<P extends Progress> =
  | { readonly kind: 'changed'; readonly parts: P }
  /** The page's state did not change during the hold. */
  | { readonly kind: 'same' }
  /** The link was used up or replaced, or has expired. */
  | { readonly kind: 'ended' }
  /** The page's state did not change, and no further request can be held: the browser repeats its request later. */
  | { readonly kind: 'full' };

/**
 * Long poll of a setup page (specification section 11.8): answers once the page's state differs from the version that
 * the browser has.
 */
export async function followProgress<P extends Progress>(
  { clock, changes, progressRequests }: ProgressServices,
  { link }: Setup,
  seen: string,
  disconnect: AbortSignal,
  read: () => Promise<P | undefined>,
): Promise<ProgressOutcome<P>> {
  if (progressRequests.fullFor(link.id)) return readOnce(seen, read);
  const request = new LongPoll(true);
  // Subscribes before reading, so that no change is missed in between.
  let messageId: MessageId | null = null;
  const unsubscribe = changes.subscribe(link.team_id, (change) => {
    if (isOfInterest(change, link.number_id, messageId)) request.wake();
  });
  let cancelInterval = () => {};
  const check = async (): Promise<ProgressOutcome<P> | undefined> => {
    const parts = await read();
    if (!parts) return { kind: 'ended' };
    messageId = parts.messageId;
    if (parts.version !== seen) return { kind: 'changed', parts };
    cancelInterval();
    if (parts.isLocking) cancelInterval = clock.after(lockTestIntervalMs, () => request.wake());
    return undefined;
  };
  try {
    request.endAfter(clock, progressHoldMs);
    const hold = () => request.firstOf(check);
    return (await progressRequests.hold(link.id, request, disconnect, hold)) ?? { kind: 'same' };
  } finally {
    cancelInterval();
    unsubscribe();
  }
}

/** Reads once without holding the request. The page then requests the state every few seconds. */
async function readOnce<P extends Progress>(
  seen: string,
  read: () => Promise<P | undefined>,
): Promise<ProgressOutcome<P>> {
  const parts = await read();
  if (!parts) return { kind: 'ended' };
  return parts.version === seen ? { kind: 'full' } : { kind: 'changed', parts };
}

/**
 * True if a change concerns the page's number or test text. Other changes are ignored, because a busy team makes many.
 */
function isOfInterest(
  change: Parameters<ChangeListener>[0],
  numberId: NumberId,
  messageId: MessageId | null,
): boolean {
  if (change === 'everything') return true;
  const { resource, ids } = change;
  if (resource === 'number') return ids === 'all' || ids.has(numberId);
  return resource === 'message' && messageId !== null && ids !== 'all' && ids.has(messageId);
}
