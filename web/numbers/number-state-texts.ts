import type { NumberState } from '#contract/home.ts';
import type { Tone } from '#web/kit/badge.tsx';

export const numberStateTexts: Readonly<Record<NumberState, { readonly text: string; readonly tone: Tone }>> =
  {
    pending: { text: 'Not connected yet', tone: 'accent' },
    paused: { text: 'Paused', tone: 'warn' },
    offline: { text: 'Offline', tone: 'bad' },
    late: { text: 'Late', tone: 'warn' },
    online: { text: 'Online', tone: 'good' },
  };
