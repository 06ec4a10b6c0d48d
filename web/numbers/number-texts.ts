import { healthCauseTexts } from '#contract/health-causes.ts';
import type { HomeNumber } from '#contract/home.ts';
import type { InboundCoverage } from '#contract/number.ts';

import type { Tone } from '#web/kit/badge.tsx';
import { isReceivingUntested } from './receiving-untested.ts';
import { texts } from './texts.ts';

export function stateSentence(number: HomeNumber): string {
  const { state, likely_cause, simulated } = number;
  if (likely_cause !== null) return healthCauseTexts[likely_cause].cause;
  if (state === 'paused') return texts.sentences.paused;
  if (simulated) return texts.sentences.simulated;
  if (state === 'late') return texts.sentences.late;
  if (!isReceivingUntested(number)) return texts.sentences.ready;
  return number.texts_received === 'never' ? texts.sentences.untested : texts.sentences.noTextYet;
}

/** Steps that probably reconnect a silent iPhone. */
export function adviceText({ likely_cause }: HomeNumber): string | undefined {
  return likely_cause === null ? undefined : healthCauseTexts[likely_cause].advice;
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
    ? { ...texts.receiving.some, tone: 'accent' }
    : coverageTexts.unknown;
}

const coverageTexts: Readonly<Record<InboundCoverage, CoverageText>> = {
  unknown: { ...texts.receiving.unknown, tone: 'warn' },
  words: { ...texts.receiving.words, tone: 'accent' },
  full: { ...texts.receiving.full, tone: 'good' },
};
