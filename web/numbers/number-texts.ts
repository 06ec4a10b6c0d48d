import type { HomeNumber } from '#contract/home.ts';
import type { InboundCoverage } from '#contract/number.ts';
import { healthCauseTexts } from '#contract/number-health.ts';
import type { PacingWarning } from '#contract/pacing.ts';
import { setupMinutes } from '#contract/setup-minutes.ts';
import type { Tone } from '#web/kit/badge.tsx';

/** How long the setup of an iPhone takes. */
export const setupTime = `about ${setupMinutes[27]} minutes, or ${setupMinutes[26]} with iOS 26 or older`;

export const connectChoice = `Connect an iPhone of yours: ${setupTime}. Without one at hand, try a simulated iPhone: its messages reach no person.`;

export function stateSentence(number: HomeNumber): string {
  const { state, likely_cause, simulated } = number;
  if (likely_cause !== null) return healthCauseTexts[likely_cause].cause;
  if (state === 'paused') return 'Nothing is sent until it is resumed. Texts that arrive still come in.';
  if (simulated) return 'The server plays this iPhone. Nothing reaches a person.';
  if (state === 'late') return 'No word from the iPhone for over 90 seconds. It may be back any moment.';
  if (!isReceivingUntested(number)) return 'Ready to send and receive.';
  return number.texts_received === 'never'
    ? 'Ready to send. Receiving is not tested yet.'
    : 'Ready to send. Texts came in from the iPhone before; from this one none has come yet.';
}

/** Steps that probably reconnect a silent iPhone. */
export function adviceText({ likely_cause }: HomeNumber): string | undefined {
  return likely_cause === null ? undefined : healthCauseTexts[likely_cause].advice;
}

/** Whether a connected iPhone has not yet passed on any text. */
export function isReceivingUntested({ state, simulated, texts_received }: HomeNumber): boolean {
  return state === 'online' && !simulated && texts_received !== 'this_phone';
}

interface CoverageText {
  readonly text: string;
  readonly tone: Tone;
  readonly sentence: string;
}

/** Describes the texts that a number's iPhone passes on, as far as tests and texts of contacts have shown. */
export function coverageText({
  inbound_coverage: coverage,
  texts_received,
}: Pick<HomeNumber, 'inbound_coverage' | 'texts_received'>): CoverageText {
  if (coverage !== 'unknown') return coverageTexts[coverage];
  return texts_received === 'this_phone'
    ? {
        text: 'Texts arrive',
        tone: 'accent',
        sentence: 'Texts come in from this iPhone. Which kinds it may miss is not tested yet.',
      }
    : coverageTexts.unknown;
}

const coverageTexts: Readonly<Record<InboundCoverage, CoverageText>> = {
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
