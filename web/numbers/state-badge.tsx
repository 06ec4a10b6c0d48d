import type { ReactNode } from 'react';
import type { NumberState } from '#contract/home.ts';
import { Badge } from '#web/kit/badge.tsx';
import { numberStateTexts } from './number-state-texts.ts';

export function StateBadge({ state }: { readonly state: NumberState }): ReactNode {
  return (
    <Badge tone={numberStateTexts[state].tone} hasDot>
      {numberStateTexts[state].text}
    </Badge>
  );
}
