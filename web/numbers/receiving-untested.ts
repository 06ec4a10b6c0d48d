import type { HomeNumber } from '#contract/home.ts';

/** Whether a connected iPhone has not yet passed on any text. */
export function isReceivingUntested({ state, simulated, texts_received }: HomeNumber): boolean {
  return state === 'online' && !simulated && texts_received !== 'this_phone';
}
