import type { HomeNumber } from '#contract/home.ts';
import type { InboundCoverage } from '#contract/number.ts';
import { healthCauseTexts } from '#contract/number-health.ts';
import type { PacingWarning } from '#contract/pacing.ts';
import { setupMinutes } from '#contract/setup-minutes.ts';
import type { Tone } from '#web/kit/badge.tsx';

export const connectChoice = `Connect an iPhone of yours: allow ${setupMinutes} minutes. Without one at hand, try a simulated iPhone: its messages reach no person.`;

export function stateSentence(number: HomeNumber): string {
  const { state, likely_cause, simulated } = number;
  if (likely_cause !== null && !simulated) return healthCauseTexts[likely_cause].cause;
  if (state === 'paused') return 'Nothing is sent until it is resumed. Texts that arrive still come in.';
  if (state === 'late' && !simulated)
    return 'No word from the iPhone for over 90 seconds. It may be back any moment.';
  if (simulated) {
    return state === 'online'
      ? 'The server plays this iPhone. Nothing reaches a person.'
      : 'The server is starting this iPhone.';
  }
  return isReceivingUntested(number)
    ? 'Ready to send. Receiving is not tested yet.'
    : 'Ready to send and receive.';
}

/** Steps that probably reconnect a silent iPhone. */
export function adviceText({ likely_cause, simulated }: HomeNumber): string | undefined {
  return likely_cause === null || simulated ? undefined : healthCauseTexts[likely_cause].advice;
}

/** Whether a connected iPhone has not yet shown in a test that it passes on texts. */
export function isReceivingUntested({ state, simulated, inbound_coverage }: HomeNumber): boolean {
  return state === 'online' && !simulated && inbound_coverage === 'unknown';
}

export const coverageTexts: Readonly<
  Record<InboundCoverage, { readonly text: string; readonly tone: Tone; readonly sentence: string }>
> = {
  unknown: {
    text: 'Not tested',
    tone: 'warn',
    sentence: 'It is not known yet which texts this iPhone passes on.',
  },
  words: {
    text: 'Texts of several words',
    tone: 'accent',
    sentence: 'Texts of several words arrive. Some replies of one word may be missed.',
  },
  full: {
    text: 'Nearly all texts',
    tone: 'good',
    sentence: 'Texts of several words arrive, and replies of one word with a Latin vowel or y.',
  },
};

/** Limits that a number exceeds. In the pacing mode `gentle` they are only warnings. */
export const pacingWarningTexts: Readonly<Record<PacingWarning, string>> = {
  new_contacts_per_hour: 'It wrote to more new contacts in the last hour than its limit.',
  new_contacts_per_day: 'It wrote to more new contacts in the last day than its limit.',
  unanswered_per_contact: 'It wrote more messages to a contact than its limit, without a reply.',
};
