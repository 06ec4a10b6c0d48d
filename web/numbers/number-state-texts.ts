import type { NumberState, NumberStateCause } from '#contract/home.ts';
import type { Tone } from '#web/kit/badge.tsx';

export const numberStateTexts: Readonly<Record<NumberState, { readonly text: string; readonly tone: Tone }>> =
  {
    pending: { text: 'Not connected yet', tone: 'warn' },
    paused: { text: 'Paused', tone: 'neutral' },
    offline: { text: 'Offline', tone: 'bad' },
    online: { text: 'Online', tone: 'good' },
  };

/** The likely cause of a state, and what to do, in a sentence. */
export const numberCauseTexts: Readonly<Record<NumberStateCause, string>> = {
  setup_link_unopened: 'Nobody has opened the setup link on the iPhone yet.',
  setup_link_ended: 'The setup link has ended. Make a new one.',
  shortcuts_not_run: 'The setup page was opened, but the shortcut has not run yet.',
  reconnect_unfinished: 'A new setup link was made, but no iPhone has used it yet.',
  no_power_or_network: 'The iPhone may be switched off, or without a network.',
  automation_stopped: 'The shortcut has stopped. Open Shortcuts on the iPhone and run Ownline Outbox.',
};
