import {
  contactHandlesMax,
  contactNameMaxCharacters,
  contactNoteMaxCharacters,
  contactsMax,
} from '#contract/contact.ts';
import { removeHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { type ContactId, publicId } from '#server/platform/ids.ts';
import type { WrittenContact } from './contact-store.ts';
import type { FilePerson } from './read-csv.ts';
import { searchWords } from './search-words.ts';

/** The state of an import before it plans a part of a file. */
interface ImportState {
  /** The contacts of the team by handle. */
  readonly known: ReadonlyMap<string, WrittenContact>;
  /** The line of each contact that earlier lines of the file wrote. */
  readonly lines: ReadonlyMap<ContactId, number>;
  /** How many contacts the team may add. */
  readonly room: number;
  readonly newId: () => ContactId;
}

interface ImportChange {
  readonly line: number;
  readonly action: 'create' | 'update';
  readonly contact: WrittenContact;
}

export interface ImportPlan {
  readonly changes: readonly ImportChange[];
  readonly skipped: readonly { readonly line: number; readonly reason: string }[];
  /** `lines` of the state, with those of these people. */
  readonly lines: ReadonlyMap<ContactId, number>;
}

/**
 * Plans what people of a file change (specification section 4.8). One with a handle of a contact changes that contact:
 * name and note are replaced if the file has them, handles are added. Nothing merges two contacts.
 * @param people with normalized handles
 */
export function planImport(people: readonly FilePerson[], state: ImportState): ImportPlan {
  const known = new Map(state.known);
  const lines = new Map(state.lines);
  const changes: ImportChange[] = [];
  const skipped: { line: number; reason: string }[] = [];
  let created = 0;
  for (const person of people) {
    const { line } = person;
    const planned = plan(person);
    if (typeof planned === 'string') {
      skipped.push({ line, reason: planned });
      continue;
    }
    for (const handle of planned.contact.handles) known.set(handle, planned.contact);
    lines.set(planned.contact.id, line);
    if (planned.isChanged) changes.push({ line, ...planned });
    if (planned.action === 'create') created += 1;
  }
  return { changes, skipped, lines };

  /** @returns the contact after the change, or why the person is left out */
  function plan(person: FilePerson) {
    if ('reason' in person) return person.reason;
    const name = cut(removeHiddenCharacters(person.name).trim(), contactNameMaxCharacters);
    const note = cut(cleanNote(person.note), contactNoteMaxCharacters);
    const { handles: given } = person;
    if (given.length === 0)
      return 'It has no mail address, and no phone number that can be read. Write numbers with their country code, such as +1.';
    const owners = [
      ...new Map(given.flatMap((handle) => known.get(handle) ?? []).map((one) => [one.id, one])).values(),
    ];
    const [owner, other] = owners;
    if (owner && other)
      return `Its handles belong to two contacts: ${publicId('con', owner.id)} and ${publicId('con', other.id)}.`;
    const earlier = owner && lines.get(owner.id);
    const isRenamed = name !== '' && searchWords(owner?.name ?? '').join() !== searchWords(name).join();
    if (earlier !== undefined && isRenamed)
      return `It has a handle of the person on line ${earlier}, who has another name.`;
    const handles = [...new Set([...(owner?.handles ?? []), ...given])];
    if (handles.length > contactHandlesMax) return `It would have more than ${contactHandlesMax} handles.`;
    if (owner) {
      const contact = { id: owner.id, name: name || owner.name, note: note || owner.note, handles };
      const isChanged =
        contact.name !== owner.name || contact.note !== owner.note || handles.length > owner.handles.length;
      return { action: 'update', contact, isChanged } as const;
    }
    if (name === '') return 'It has no name.';
    if (created >= state.room)
      return `The team has ${contactsMax.toLocaleString('en')} contacts, which is the most.`;
    return {
      action: 'create',
      contact: { id: state.newId(), name, note, handles },
      isChanged: true,
    } as const;
  }
}

/** Keeps line breaks, and leaves out other hidden characters. */
function cleanNote(note: string): string {
  return note
    .trim()
    .split(/\r\n?|\n/)
    .map(removeHiddenCharacters)
    .join('\n');
}

function cut(text: string, max: number): string {
  return [...text].slice(0, max).join('');
}
