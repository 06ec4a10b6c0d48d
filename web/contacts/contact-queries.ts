import { keepPreviousData } from '@tanstack/react-query';
import type { Contact, ContactList, ContactRequest, ImportedContacts } from '#contract/contact.ts';
import { listQuery } from '#web/api/lists.ts';
import { isOlderId } from '#web/api/loaded-list.ts';
import { queryClient } from '#web/api/query-client.ts';
import { readTeam, teamQuery, teamRequest } from '#web/api/team-requests.ts';

/** The contacts of a team, newest first. @param q beginnings of names, or last digits */
export const contactsQuery = (teamId: string, q = '') => ({
  ...listQuery([teamId, 'contact', 'contacts', q], {
    read: (cursor, signal) => readTeam<ContactList>(teamId, '/contacts', { query: q, cursor }, signal),
    rowsOf: ({ contacts }) => contacts,
    isOlder: isOlderId,
  }),
  placeholderData: keepPreviousData,
});

export const contactQuery = (teamId: string, id: string) =>
  teamQuery<Contact>(teamId, 'contact', `/contacts/${id}`);

export async function findContacts(teamId: string, query: string): Promise<readonly Contact[]> {
  return (await readTeam<ContactList>(teamId, '/contacts', { query })).contacts;
}

export async function findContact(teamId: string, handle: string): Promise<Contact | undefined> {
  return (await readTeam<ContactList>(teamId, '/contacts', { handle })).contacts[0];
}

/** Changes a contact, or creates one. @param id undefined for a new contact */
export const saveContact = (teamId: string, id: string | undefined, contact: ContactRequest) =>
  id === undefined
    ? teamRequest<Contact>(teamId, 'POST', '/contacts', contact)
    : teamRequest<Contact>(teamId, 'PUT', `/contacts/${id}`, contact);

export const deleteContact = (teamId: string, id: string) => teamRequest(teamId, 'DELETE', `/contacts/${id}`);

/** Imports a file, or says what an import would change. */
export const importContacts = (teamId: string, file: File, isPreview: boolean) =>
  teamRequest<ImportedContacts>(
    teamId,
    'POST',
    `/contacts/import${isPreview ? '?preview=true' : ''}`,
    new Blob([file], { type: /\.(vcf|vcard)$/i.test(file.name) ? 'text/vcard' : 'text/csv' }),
  );

/** Reads contacts again, and the lists and threads that show their names. */
export const rereadContacts = (teamId: string) =>
  Promise.all(
    ['contact', 'message'].map((type) => queryClient.invalidateQueries({ queryKey: [teamId, type] })),
  );
