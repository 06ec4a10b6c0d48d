import { BrowserSetting } from '#web/kit/browser-setting.ts';

export const densities = ['comfortable', 'compact'] as const;
export type Density = (typeof densities)[number];

/** How much room a conversation takes in lists, in this browser. */
export const density = new BrowserSetting<Density>('ownline.density', (stored) =>
  stored === 'compact' ? 'compact' : 'comfortable',
);
