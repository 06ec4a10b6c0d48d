import { Type } from 'typebox';
import { contactMaxCharacters } from './opt-out.ts';
import { strictObject, stringEnum } from './schema.ts';

/** POST /app/teams/:team_id/erasures (specification section 12.14). */
export const EraseContactRequest = strictObject({
  contact: Type.String({
    minLength: 1,
    maxLength: contactMaxCharacters,
    description: 'The contact’s handle, in any spelling.',
  }),
  whole_contact: Type.Optional(
    Type.Boolean({
      description: 'true: also the name, the note and all other handles of the person with this handle.',
    }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({
      description: 'true: the server counts what an erasure would change, and erases nothing.',
    }),
  ),
});
export type EraseContactRequest = Type.Static<typeof EraseContactRequest>;

/** The rows of an erasure are counted up to this number. */
export const erasureCountMax = 10_000;

const count = (description: string) =>
  Type.Integer({ minimum: 0, maximum: erasureCountMax + 1, description });

/**
 * Counts of the rows that an erasure changes, from its beginning. A count of `erasureCountMax` + 1 means that there are
 * more.
 */
export const Erasure = strictObject({
  messages: count('Messages to and from the contact.'),
  waiting: count('Messages that waited for a phone, and are cancelled.'),
  in_flight: count('Those of them that a phone has: they are erased once their outcome is known.'),
  files: count('Files of these messages, of the first 10,001 at most.'),
  events: count('Events of these messages, of the first 10,001 at most.'),
  opted_out: Type.Boolean({
    description: 'The contact is opted out, and stays so: its opt-out is kept as a keyed hash.',
  }),
  status: stringEnum(['dry_run', 'erased', 'running'], {
    description: 'running: the server goes on by itself, in batches or once a phone has reported.',
  }),
});
export type Erasure = Type.Static<typeof Erasure>;
