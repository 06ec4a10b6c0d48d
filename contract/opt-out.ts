import { Type } from 'typebox';
import { pageFields, pageQuery } from './paging.ts';
import { nullable, publicIdOf, strictObject, timestamp } from './schema.ts';

/** The maximum length of a stored handle. */
export const contactMaxCharacters = 320;

/** A contact that gets no more messages from the team (specification section 4.6). */
export const OptOut = strictObject({
  id: publicIdOf('opt', 'The id of this opt-out; a later opt-out of the contact has another id.'),
  contact: Type.String({
    description: 'A phone number in E.164, a mail address in lower case, or another handle.',
    examples: ['+14155550101'],
  }),
  phone_number: nullable(
    Type.String({
      description: 'The number that received the message; null if a request opted the contact out.',
      examples: ['+14155550100'],
    }),
  ),
  message_id: nullable(
    publicIdOf('msg', 'The inbound message that opted the contact out; null if a request did.'),
  ),
  opted_out_at: timestamp('When the contact opted out.'),
  ignored_start_at: nullable(
    timestamp(
      'When the latest START came that did not opt the contact in, because it may be a late repeat of a START from before the opt-out; null if none came.',
    ),
  ),
});
export type OptOut = Type.Static<typeof OptOut>;

export const contactParameter = Type.String({
  minLength: 1,
  maxLength: contactMaxCharacters,
  description: 'The contact, percent-encoded: a phone number in E.164, or a handle as messages show it.',
  examples: ['+14155550101'],
});

/** GET /v1/opt-outs */
export const ListOptOutsQuery = strictObject({
  ...pageQuery('opt-outs'),
});
export type ListOptOutsQuery = Type.Static<typeof ListOptOutsQuery>;

export const OptOutList = strictObject({
  opt_outs: Type.Array(OptOut, { description: 'Newest first.' }),
  ...pageFields('opt'),
});
export type OptOutList = Type.Static<typeof OptOutList>;
