import type { NumberState, NumberStateCause } from '#contract/home.ts';
import type { Tone } from '#web/kit/badge.tsx';

export const numberStateTexts: Readonly<Record<NumberState, { readonly text: string; readonly tone: Tone }>> =
  {
    pending: { text: 'Not connected yet', tone: 'accent' },
    paused: { text: 'Paused', tone: 'warn' },
    offline: { text: 'Offline', tone: 'bad' },
    online: { text: 'Online', tone: 'good' },
  };

/** The likely cause of a state, and what to do, in a sentence. */
export const numberCauseTexts: Readonly<Record<NumberStateCause, string>> = {
  setup_link_unopened: 'Its setup link has not been opened on the iPhone yet.',
  setup_link_ended: 'Its setup link ended before an iPhone used it. Create a new one.',
  shortcuts_not_run:
    'The iPhone has opened the setup link and has not asked for messages yet. Run Ownline Outbox on it.',
  reconnect_unfinished: 'A new setup link waits for its iPhone, and the earlier iPhone is silent.',
  no_power_or_network: 'The iPhone stopped asking for messages. It may have no power or no network.',
  automation_stopped:
    'The iPhone has been silent for over an hour. Ownline Outbox may have stopped: run it on the iPhone.',
};
