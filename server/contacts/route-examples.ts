import { exampleTime as at, exampleContact, exampleId, exampleIds as ids } from '#contract/example-values.ts';
import { conflictExample, type Examples, pageExamples, success } from '#server/http/example.ts';

const body = { name: 'Ada Example', handles: [exampleContact, 'ada@example.com'], note: 'Prefers mornings.' };
const ada = { id: ids.contact, ...body, created_at: at('09:36:00'), updated_at: at('09:36:00') };
const grace = {
  id: exampleId('con', 2),
  name: 'Grace Example',
  handles: ['+14155550102'],
  note: '',
  created_at: at('09:37:00'),
  updated_at: at('09:37:00'),
};
const own = { params: { id: ids.contact } };
const { name, handles } = grace;

export const listContactsExamples: Examples = {
  ...pageExamples('contacts', [grace, ada], {
    newest: 'The latest contacts',
    firstPage: 'The first page, with one contact',
  }),
  by_handle: success(
    'The contact with a mail address',
    { contacts: [ada], cursor: ada.id, has_more: false },
    { query: { handle: 'Ada@example.com' } },
  ),
  by_name: success(
    'Contacts by beginnings of their names',
    { contacts: [ada], cursor: ada.id, has_more: false },
    { query: { query: 'ex ad' } },
  ),
};

export const createContactExamples: Examples = {
  created: success('The contact is created', ada, { body }, 201),
  taken: conflictExample(
    'A handle belongs to another contact',
    `${exampleContact} is a handle of the contact ${ids.contact}. Change that contact, or leave the handle out.`,
    { body: { name, handles: [...handles, exampleContact] } },
    { param: 'handles' },
  ),
};

export const getContactExamples: Examples = { found: success('A contact', ada, own) };

const changed = { name: 'Ada Example', handles: [exampleContact] };

export const replaceContactExamples: Examples = {
  replaced: success(
    'The contact has one handle and no note',
    { ...ada, ...changed, note: '', updated_at: at('09:38:00') },
    { ...own, body: changed },
  ),
};

export const deleteContactExamples: Examples = {
  deleted: success('The contact is deleted', { deleted: true }, own),
};

const skipped = [{ line: 4, reason: 'It has no name.' }];

export const importContactsExamples: Examples = {
  imported: success('One person is new, one has changed', { created: 1, updated: 1, skipped }),
  preview: success(
    'What an import would change',
    {
      created: 1,
      updated: 1,
      skipped,
      changes: [
        { line: 2, action: 'update', name: 'Grace Hopper', handles },
        { line: 3, action: 'create', name: 'Lin Example', handles: ['lin@example.com'] },
      ],
    },
    { query: { preview: true } },
  ),
  running: conflictExample(
    'Another import of the team is running',
    'Another import of the team is running. Import this file once it has ended.',
    {},
  ),
};
