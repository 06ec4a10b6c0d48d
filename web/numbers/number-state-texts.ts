import type { NumberState } from '#contract/home.ts';
import type { Tone } from '#web/kit/badge.tsx';
import { texts } from './texts.ts';

const { states } = texts;

export const numberStateTexts: Readonly<Record<NumberState, { readonly text: string; readonly tone: Tone }>> =
  {
    pending: { text: states.pending, tone: 'accent' },
    paused: { text: states.paused, tone: 'warn' },
    offline: { text: states.offline, tone: 'bad' },
    late: { text: states.late, tone: 'warn' },
    online: { text: states.online, tone: 'good' },
  };
