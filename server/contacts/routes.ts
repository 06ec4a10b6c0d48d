import {
  Contact,
  ContactList,
  ContactRequest,
  ImportContactsQuery,
  ImportedContacts,
  ListContactsQuery,
} from '#contract/contact.ts';
import { Deleted } from '#contract/deleted.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { createContact, deleteContact, replaceContact, requireContact } from './change-contact.ts';
import { contactView } from './contact-store.ts';
import { ContactImports } from './import-contacts.ts';
import { contactBodyMaxBytes, importMaxBytes } from './limits.ts';
import { listContacts } from './list-contacts.ts';
import {
  createContactExamples,
  deleteContactExamples,
  getContactExamples,
  importContactsExamples,
  listContactsExamples,
  replaceContactExamples,
} from './route-examples.ts';

const reads = { audience: 'api', permission: 'messages:read' } as const;
const writes = { audience: 'api', permission: 'messages:send' } as const;
const ofOne = { ids: { id: 'con' } } as const;
const takesContact = { body: ContactRequest, admission: { bodyMaxBytes: contactBodyMaxBytes } } as const;

export function contactRoutes(services: Runtime): Route[] {
  const imports = new ContactImports(services);
  return [
    route('GET /v1/contacts', {
      ...reads,
      text: {
        operationId: 'listContacts',
        tag: 'Contacts',
        summary: 'List contacts',
        description:
          'Lists the people that the team knows by name, newest first: all of them, the one with a `handle`, or those that fit a `query`. Pages work as those of messages.',
        examples: listContactsExamples,
      },
      query: ListContactsQuery,
      answers: { 200: ContactList },
      handle: async ({ principal, query }) => {
        const { rows, ...page } = await listContacts(services, principal.teamId, query);
        return { body: { contacts: rows.map(contactView), ...page } };
      },
    }),
    route('POST /v1/contacts', {
      ...writes,
      ...takesContact,
      audit: 'contact.created',
      text: {
        operationId: 'createContact',
        tag: 'Contacts',
        summary: 'Create a contact',
        description:
          'Names a person by their phone numbers and mail addresses. Conversations with these handles then show the name.',
        examples: createContactExamples,
      },
      answers: { 201: Contact },
      handle: async ({ principal: { teamId }, body, by }) => ({
        status: 201,
        body: contactView(await createContact(services, teamId, body, by)),
      }),
    }),
    route('POST /v1/contacts/import', {
      ...writes,
      admission: { permit: 'own queue', streamsBody: true, bodyMaxBytes: importMaxBytes },
      audit: 'contact.imported',
      text: {
        operationId: 'importContacts',
        tag: 'Contacts',
        summary: 'Import contacts',
        description:
          'Takes the people of a file of at most 5 MB and 10,000 people. The body is the file itself: CSV with a first line that names the columns, as Google, Outlook and Apple export it, or vCards. The `Content-Type` of the request does not count.\n\nA person with a handle of a contact changes that contact: name and note are replaced if the file has them, handles are added. A person whose handles belong to two contacts is left out. A phone number without a country code gets that of the team’s first number. With `preview` nothing changes.',
        examples: importContactsExamples,
      },
      query: ImportContactsQuery,
      answers: { 200: ImportedContacts },
      handle: async ({ principal: { teamId }, query: { preview = false }, request, by }) => ({
        body: await imports.run({ teamId, request, isPreview: preview, by }),
      }),
    }),
    route('GET /v1/contacts/:id', {
      ...reads,
      ...ofOne,
      text: {
        operationId: 'getContact',
        tag: 'Contacts',
        summary: 'Get a contact',
        description: 'Gets a person by the id of the contact.',
        examples: getContactExamples,
      },
      answers: { 200: Contact },
      handle: async ({ principal: { teamId }, ids }) => ({
        body: contactView(await requireContact(services.database.pool, { teamId, contactId: ids.id })),
      }),
    }),
    route('PUT /v1/contacts/:id', {
      ...writes,
      ...ofOne,
      ...takesContact,
      audit: 'contact.changed',
      text: {
        operationId: 'replaceContact',
        tag: 'Contacts',
        summary: 'Replace a contact',
        description:
          'Replaces the name, the handles and the note. Handles that the request leaves out no longer belong to the contact. Without a note in the request, the note becomes empty.',
        examples: replaceContactExamples,
      },
      answers: { 200: Contact },
      handle: async ({ principal: { teamId }, ids, body, by }) => ({
        body: contactView(await replaceContact(services, { teamId, contactId: ids.id, by }, body)),
      }),
    }),
    route('DELETE /v1/contacts/:id', {
      ...writes,
      ...ofOne,
      audit: 'contact.deleted',
      text: {
        operationId: 'deleteContact',
        tag: 'Contacts',
        summary: 'Delete a contact',
        description:
          'Deletes the name, the note and the list of handles. Messages stay, and show the handle again. To erase the messages of a person, erase their handles in the dashboard.',
        examples: deleteContactExamples,
      },
      answers: { 200: Deleted },
      handle: async ({ principal: { teamId }, ids, by }) => {
        await deleteContact(services, { teamId, contactId: ids.id, by });
        return { body: { deleted: true } };
      },
    }),
  ];
}
