import type { ReactNode } from 'react';
import type { NumberState } from '#contract/home.ts';
import { Badge, type Tone } from '#web/kit/badge.tsx';
import { texts } from './texts.ts';

const tones: Readonly<Record<NumberState, Tone>> = {
  pending: 'accent',
  paused: 'warn',
  offline: 'bad',
  late: 'warn',
  online: 'good',
};

/** The state of a number, for Home and the pages of numbers. */
export function StateBadge({ state }: { readonly state: NumberState }): ReactNode {
  return (
    <Badge tone={tones[state]} hasDot>
      {texts.numbers.states[state]}
    </Badge>
  );
}
