import type { HomeNumber } from '#contract/home.ts';
import { texts } from './texts.ts';

/** The API's count stops at 100, which means 100 or more. */
const waitingMax = 100;

type Waiting = Pick<HomeNumber, 'waiting_messages'>;

/** A sentence such as `3 messages wait`; undefined for none. */
export function waitingText({ waiting_messages: count }: Waiting): string | undefined {
  if (count === 0) return undefined;
  return count < waitingMax ? texts.waiting.wait({ count }) : texts.waiting.manyWait({ count: waitingMax });
}

/** How many messages wait: `3 messages`, or `None`. */
export function waitingAmount({ waiting_messages: count }: Waiting): string {
  if (count === 0) return texts.facts.noneWaiting;
  return count < waitingMax
    ? texts.waiting.amount({ count })
    : texts.waiting.manyAmount({ count: waitingMax });
}
