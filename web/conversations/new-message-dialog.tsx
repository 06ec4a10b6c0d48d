import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import type { Contact } from '#contract/contact.ts';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { NumberResource } from '#contract/number.ts';
import { readPhoneNumber } from '#contract/typed-handle.ts';
import { useList } from '#web/api/lists.ts';
import { ApiError } from '#web/api/request.ts';
import { contactsQuery, findContacts } from '#web/contacts/contact-queries.ts';
import { ContactAvatar } from '#web/kit/avatar.tsx';
import type { DialogState } from '#web/kit/dialog.tsx';
import { TextField } from '#web/kit/field.tsx';
import { moveFocus } from '#web/kit/menu.tsx';
import { Select } from '#web/kit/select.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { Handle } from '#web/kit/text.tsx';
import { useDebounced } from '#web/kit/use-debounced.ts';
import { numbersQuery } from '#web/numbers/number-queries.ts';
import { realFirst } from '#web/numbers/real-first.ts';
import { openedOver } from '#web/shell/leave.ts';
import { useTeam } from '#web/shell/session.ts';
import { texts as conversationTexts } from './texts.ts';

const { newMessage: texts } = conversationTexts;

/** Asks for number and contact, and opens their conversation, which may be a new one. */
export function NewMessageDialog({ isOpen, onClose }: DialogState): ReactNode {
  const team = useTeam();
  const navigate = useNavigate();
  const { data } = useQuery(numbersQuery(team.id));
  const numbers = realFirst(data?.numbers ?? []).filter(
    ({ verified, status }) => verified && status === 'active',
  );
  const [chosen, setChosen] = useState('');
  const [typed, setTyped] = useState('');
  const from = chosen || numbers[0]?.phone_number;
  const typedNumber = readPhoneNumber(typed, from);
  const found = usePeople(typed, isOpen);
  // The offered names may belong to the text before, so a typed name is looked up again.
  const opening = useMutation({
    mutationFn: async (chosenContact: string | undefined) => {
      const contact =
        chosenContact ?? typedNumber ?? peopleIn(await findContacts(team.id, typed))[0]?.phoneNumber;
      const problem = contact === undefined ? texts.noPhoneNumber : contact === from && texts.itself;
      if (problem) throw new ApiError(400, { code: 'invalid_request', message: problem, param: 'to' });
      return { teamId: team.id, phoneNumber: from ?? '', contact: contact ?? '' };
    },
    onSuccess: (params) => {
      close();
      void navigate({
        to: '/teams/$teamId/conversations/$phoneNumber/$contact',
        params,
        state: openedOver,
      });
    },
  });
  const close = () => {
    onClose();
    setTyped('');
    opening.reset();
  };
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={close}
      title={texts.title}
      action={texts.continue}
      work={opening}
      isDisabled={from === undefined}
      fields={['to']}
      onSubmit={() => opening.mutate(undefined)}
    >
      {from === undefined ? (
        <p className="text-quiet">{texts.noNumber}</p>
      ) : (
        <>
          <Select
            label={texts.from}
            value={from}
            options={numbers.map((number) => [number.phone_number, nameOf(number)])}
            onChange={setChosen}
          />
          <Recipients people={found} onChoose={opening.mutate}>
            <TextField
              name="to"
              label={texts.to}
              placeholder={texts.toExample}
              hint={typedNumber && <Handle value={typedNumber} />}
              required
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          </Recipients>
        </>
      )}
    </FormDialog>
  );
}

interface Person {
  readonly name: string;
  readonly phoneNumber: string;
}

/** How many people are offered. */
const peopleMax = 6;

/** The contacts whose names or numbers fit what is typed, once for each of their phone numbers. */
function usePeople(typed: string, isOpen: boolean): readonly Person[] {
  const q = useDebounced(typed.trim());
  const { rows } = useList({ ...contactsQuery(useTeam().id, q), enabled: isOpen && q !== '' });
  return q === '' || typed === '' ? [] : peopleIn(rows).slice(0, peopleMax);
}

const peopleIn = (contacts: readonly Contact[]): readonly Person[] =>
  contacts.flatMap(({ name, handles }) =>
    handles.filter((one) => one.startsWith('+')).map((phoneNumber) => ({ name, phoneNumber })),
  );

/** A field, and below it the people who fit what is typed. The arrow keys go through them. */
function Recipients({
  people,
  onChoose,
  children,
}: {
  readonly people: readonly Person[];
  readonly onChoose: (phoneNumber: string) => void;
  readonly children: ReactNode;
}): ReactNode {
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>('input, button')];
    if (/^Arrow/.test(event.key) && moveFocus(event, items)) event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the field and the buttons in it have the focus
    <div className="flex flex-col gap-2" onKeyDown={onKeyDown}>
      {children}
      {people.length > 0 && (
        <ul aria-label={texts.people} className="flex flex-col">
          {people.map(({ name, phoneNumber }) => (
            <li key={phoneNumber}>
              <button
                type="button"
                onClick={() => onChoose(phoneNumber)}
                className="flex w-full items-center gap-3 rounded-lg px-2 py-1.5 text-left hover:bg-sunken"
              >
                <ContactAvatar contact={phoneNumber} name={name} />
                <span className="min-w-0">
                  <bdi className="block truncate font-medium">{name}</bdi>
                  <span className="text-xs text-quiet">
                    <Handle value={phoneNumber} />
                  </span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Labels an option: `Reception, +1 (415) 555-0100`. A simulated number is marked, as options have no badges. */
function nameOf({ phone_number, label, simulated }: NumberResource): string {
  const number = formatPhoneNumber(phone_number);
  const name = label ? texts.labelled({ label, number }) : number;
  return simulated ? texts.simulated({ name }) : name;
}
