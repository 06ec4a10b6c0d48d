import type { Type } from 'typebox';
import { strictObject, stringEnum } from './schema.ts';

const wayOf = (ios: string) =>
  stringEnum(['signed', 'links', 'files', 'by_hand'], {
    description: `How a phone with ${ios} gets the shortcuts; by_hand: nothing is published for it.`,
  });

/** GET /app/teams/:team_id/shortcuts. */
export const PublishedShortcuts = strictObject({ ios_26: wayOf('iOS 17 to 26'), ios_27: wayOf('iOS 27') });
export type PublishedShortcuts = Type.Static<typeof PublishedShortcuts>;
