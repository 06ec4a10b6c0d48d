import { useMutation, useQuery } from '@tanstack/react-query';
import { Plus, UserRoundPlus, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Contact, ContactRequest } from '#contract/contact.ts';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { readHandle } from '#contract/typed-handle.ts';
import { useList } from '#web/api/lists.ts';
import { ApiError } from '#web/api/request.ts';
import { Button, IconButton } from '#web/kit/button.tsx';
import type { DialogState } from '#web/kit/dialog.tsx';
import { TextField } from '#web/kit/field.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { Handle } from '#web/kit/text.tsx';
import { useDebounced } from '#web/kit/use-debounced.ts';
import { numbersQuery } from '#web/numbers/number-queries.ts';
import { realFirst } from '#web/numbers/real-first.ts';
import { useTeam } from '#web/shell/session.ts';
import { contactQuery, contactsQuery, findContact, rereadContacts, saveContact } from './contact-queries.ts';
import { texts as contactTexts } from './texts.ts';

const { dialog: texts } = contactTexts;

const namesakesMax = 3;

/** Changes a contact, or creates one. */
export function ContactDialog({
  id: givenId,
  handle,
  isOpen,
  onClose,
}: DialogState & {
  /** undefined for a new contact. */
  readonly id?: string | undefined;
  /** The first handle of a new contact. */
  readonly handle?: string;
}): ReactNode {
  const team = useTeam();
  const ownNumber = realFirst(useQuery(numbersQuery(team.id)).data?.numbers ?? [])[0]?.phone_number;
  // Set by a refusal: the contact that has the handle already.
  const [otherId, setOtherId] = useState<string>();
  const id = otherId ?? givenId;
  const found = useQuery({ ...contactQuery(team.id, id ?? ''), enabled: isOpen && id !== undefined });
  const [changed, setChanged] = useState<readonly string[]>();
  const [typed, setTyped] = useState('');
  // The handles that are added to another contact, whose name was typed for them.
  const [more, setMore] = useState<readonly string[]>([]);
  const [name, setName] = useState('');
  const namesakes = useNamesakes(id === undefined && handle !== undefined ? name : '');
  const first = id === undefined && handle !== undefined ? [handle] : (found.data?.handles ?? []);
  const known = [...first, ...more];
  const handles = changed ?? known;
  const withTyped = typed.trim() === '' ? handles : [...new Set([...handles, readHandle(typed, ownNumber)])];
  const change = (next: readonly string[], left = typed) => {
    setChanged(next);
    setTyped(left);
    saving.reset();
  };
  const saving = useMutation({
    mutationFn: (contact: ContactRequest) =>
      saveContact(team.id, id, contact).catch(async (error: Error) => {
        throw (await heldElsewhere(error, team.id, id, contact.handles)) ?? error;
      }),
    onSuccess: async () => {
      close();
      await rereadContacts(team.id);
    },
  });
  const start = (other?: string, more: readonly string[] = []) => {
    setOtherId(other);
    setName('');
    setMore(more);
    setChanged(undefined);
    setTyped('');
    saving.reset();
  };
  const close = () => {
    onClose();
    start();
  };
  const holder = saving.error instanceof HeldElsewhere ? saving.error.holder : undefined;
  const fields = (contact?: Contact) => (
    <>
      <TextField
        key={`name ${id}`}
        name="name"
        label={texts.name}
        defaultValue={contact?.name}
        required
        maxLength={100}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {namesakes.map((one) => (
        <Button key={one.id} size="small" className="self-start" onClick={() => start(one.id, handles)}>
          <UserRoundPlus /> {texts.addTo({ name: one.name, handle: formatPhoneNumber(one.handles[0] ?? '') })}
        </Button>
      ))}
      {handles.length > 0 && (
        <ul aria-label={texts.handles} className="flex flex-col gap-1.5">
          {handles.map((one) => (
            <li key={one} className="flex items-center justify-between gap-2 rounded-lg bg-sunken pl-3">
              <Handle value={one} />
              <IconButton
                label={texts.remove({ handle: formatPhoneNumber(one) })}
                onClick={() => change(handles.filter((other) => other !== one))}
              >
                <X />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      <div className="flex flex-col gap-2">
        <div className="flex items-start gap-2">
          <TextField
            name="handles"
            label={handles.length === 0 ? texts.handle : texts.anotherHandle}
            className="flex-1"
            value={typed}
            required={handles.length === 0}
            maxLength={320}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <IconButton
            label={texts.addHandle}
            look="second"
            className="mt-6.5"
            disabled={typed.trim() === ''}
            onClick={() => change(withTyped, '')}
          >
            <Plus />
          </IconButton>
        </div>
        {holder && (
          <Button size="small" className="self-start" onClick={() => start(holder.id)}>
            {texts.open(holder)}
          </Button>
        )}
      </div>
      <TextField
        key={`note ${id}`}
        name="note"
        label={texts.note}
        defaultValue={contact?.note}
        maxLength={2_000}
        isLong
      />
    </>
  );
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={close}
      title={id === undefined ? texts.add : texts.edit}
      action={texts.save}
      work={saving}
      isDisabled={id !== undefined && found.data === undefined}
      fields={['name', 'handles', 'note']}
      onSubmit={({ name = '', note = '' }) =>
        saving.mutate({ name: name.trim(), handles: [...withTyped], note })
      }
    >
      {id === undefined ? fields() : <Loaded query={found}>{fields}</Loaded>}
    </FormDialog>
  );
}

/** Contacts with a name that is typed for another handle: the person may be one of them. */
function useNamesakes(name: string): readonly Contact[] {
  const q = useDebounced(name.trim());
  const { rows } = useList({ ...contactsQuery(useTeam().id, q), enabled: q.length >= 2 });
  return q.length >= 2 && name !== '' ? rows.slice(0, namesakesMax) : [];
}

/** The refusal of a handle that belongs to another contact, which it names. */
class HeldElsewhere extends ApiError {
  readonly holder: Contact;

  constructor(handle: string, holder: Contact) {
    const message = texts.held({ handle: formatPhoneNumber(handle), name: holder.name });
    super(409, { code: 'conflict', message, param: 'handles' });
    this.holder = holder;
  }
}

async function heldElsewhere(
  error: Error,
  teamId: string,
  id: string | undefined,
  handles: readonly string[],
): Promise<HeldElsewhere | undefined> {
  if (!(error instanceof ApiError) || error.code !== 'conflict') return undefined;
  for (const handle of handles) {
    const holder = await findContact(teamId, handle);
    if (holder && holder.id !== id) return new HeldElsewhere(handle, holder);
  }
  return undefined;
}
