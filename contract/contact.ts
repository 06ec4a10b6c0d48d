import { Type } from 'typebox';
import { contactMaxCharacters } from './opt-out.ts';
import { pageFields, pageQuery } from './paging.ts';
import { publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';

export const contactNameMaxCharacters = 100;
export const contactHandlesMax = 10;
export const contactNoteMaxCharacters = 2_000;

/** Contacts that a team may have. */
export const contactsMax = 100_000;

const name = Type.String({
  minLength: 1,
  maxLength: contactNameMaxCharacters,
  description: 'The name that the team gave the person.',
  examples: ['Ada Example'],
});
const handles = Type.Array(Type.String({ minLength: 1, maxLength: contactMaxCharacters }), {
  minItems: 1,
  maxItems: contactHandlesMax,
  description:
    'The person’s phone numbers in E.164 and mail addresses. A handle belongs to one contact of the team.',
  examples: [['+14155550101', 'ada@example.com']],
});
const note = Type.String({
  maxLength: contactNoteMaxCharacters,
  description: 'What the team notes about the person; "" for nothing.',
  examples: ['Prefers mornings.'],
});

/** A person with a name, under which the team sees the handles (specification section 4.8). */
export const Contact = strictObject({
  id: publicIdOf('con', 'The id of the contact.'),
  name,
  handles,
  note,
  created_at: timestamp('When the contact was created.'),
  updated_at: timestamp('When the contact was last changed.'),
});
export type Contact = Type.Static<typeof Contact>;

/** POST /v1/contacts, PUT /v1/contacts/:id */
export const ContactRequest = strictObject({ name, handles, note: Type.Optional(note) });
export type ContactRequest = Type.Static<typeof ContactRequest>;

/** GET /v1/contacts */
export const ListContactsQuery = strictObject({
  handle: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: contactMaxCharacters,
      description: 'Only the contact that has this handle.',
    }),
  ),
  query: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'Only contacts with a name whose words begin with these words, or with a phone number that ends in these digits.',
    }),
  ),
  ...pageQuery('contacts'),
});
export type ListContactsQuery = Type.Static<typeof ListContactsQuery>;

export const ContactList = strictObject({
  contacts: Type.Array(Contact, { description: 'Newest first.' }),
  ...pageFields('con'),
});
export type ContactList = Type.Static<typeof ContactList>;

/** How many changes the preview of an import lists. */
export const importChangesMax = 100;

/** POST /v1/contacts/import */
export const ImportContactsQuery = strictObject({
  preview: Type.Optional(
    Type.Boolean({ description: 'true: the answer says what an import would change, and nothing changes.' }),
  ),
});
export type ImportContactsQuery = Type.Static<typeof ImportContactsQuery>;

const line = Type.Integer({ minimum: 1, description: 'The line of the file on which the person begins.' });

export const ImportSkip = strictObject({ line, reason: Type.String() });

export const ImportChange = strictObject({
  line,
  action: stringEnum(['create', 'update']),
  name,
  handles,
});

export const ImportedContacts = strictObject({
  created: Type.Integer({ description: 'People that the team did not have.' }),
  updated: Type.Integer({ description: 'People whose name, handles or note changed.' }),
  skipped: Type.Array(ImportSkip, {
    description: 'People that were left out, with the reason in a sentence.',
  }),
  changes: Type.Optional(
    Type.Array(ImportChange, {
      description: `With preview: the first ${importChangesMax} changes.`,
    }),
  ),
});
export type ImportedContacts = Type.Static<typeof ImportedContacts>;
