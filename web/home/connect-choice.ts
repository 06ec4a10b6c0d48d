import { setupMinutes } from '#contract/setup-minutes.ts';
import { texts } from './texts.ts';

/** How long the setup of an iPhone takes. */
export const setupTime = texts.setupTime({
  minutes: setupMinutes[27],
  minutesBefore27: setupMinutes[26],
});

export const connectChoice = texts.connectChoice({ setupTime });
