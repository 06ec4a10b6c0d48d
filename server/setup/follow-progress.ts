import type { SetupState } from '#contract/setup.ts';
import type { ChangeListener, Changes } from '#server/dashboard/changes.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SetupLinkRow } from '#server/devices/device-store.ts';
import { LongPoll, LongPolls } from '#server/platform/concurrency/long-poll.ts';
import type { MessageId, NumberId, SetupLinkId } from '#server/platform/ids/ids.ts';
import { heldProgressMax, lockTestIntervalMs, progressHoldMs } from './limits.ts';
import type { ReadSetup } from './read-setup.ts';

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

/**
 * Long poll of a setup page (specification section 11.8): answers once the page's state differs from the version that
 * the browser has.
 * @param read reads the state. It throws once the link has ended
 * @returns `same` after the hold, or `full` if no further request can be held: the browser repeats its request later
 */
export async function followProgress(
  { clock, changes, progressRequests }: ProgressServices,
  link: Pick<SetupLinkRow, 'team_id' | 'id' | 'number_id'>,
  seen: string | undefined,
  disconnect: AbortSignal,
  read: () => Promise<ReadSetup>,
): Promise<SetupState | 'same' | 'full'> {
  if (progressRequests.fullFor(link.id)) {
    const { state } = await read();
    return state.version === seen ? 'full' : state;
  }
  const request = new LongPoll(true);
  // Subscribes before reading, so that no change is missed in between.
  let messageId: MessageId | null = null;
  const unsubscribe = changes.subscribe(link.team_id, (change) => {
    if (isOfInterest(change, link.number_id, messageId)) request.wake();
  });
  let cancelInterval = () => {};
  const check = async () => {
    const { state, messageId: latest, isLocking } = await read();
    messageId = latest;
    if (state.version !== seen) return state;
    cancelInterval();
    if (isLocking) cancelInterval = clock.after(lockTestIntervalMs, () => request.wake());
    return undefined;
  };
  try {
    request.endAfter(clock, progressHoldMs);
    return (
      (await progressRequests.hold(link.id, request, disconnect, () => request.firstOf(check))) ?? 'same'
    );
  } finally {
    cancelInterval();
    unsubscribe();
  }
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
