import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { NumberResource } from '#contract/number.ts';
import { ApiError } from '#web/api/request.ts';
import type { DialogState } from '#web/kit/dialog.tsx';
import { Select, TextField } from '#web/kit/field.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
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
  const [error, setError] = useState<Error | null>(null);
  const from = chosen || numbers[0]?.phone_number;
  const open = (to: string) => {
    const contact = to.replaceAll(/[\s().-]/g, '');
    const problem = !/^\+[1-9]\d{6,14}$/.test(contact)
      ? texts.noPhoneNumber
      : contact === from && texts.itself;
    setError(problem ? new ApiError(400, { code: 'invalid_request', message: problem, param: 'to' }) : null);
    if (problem || from === undefined) return;
    onClose();
    void navigate({
      to: '/teams/$teamId/conversations/$phoneNumber/$contact',
      params: { teamId: team.id, phoneNumber: from, contact },
      state: openedOver,
    });
  };
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={onClose}
      title={texts.title}
      action={texts.continue}
      work={{ error, isPending: false }}
      isDisabled={from === undefined}
      fields={['to']}
      onSubmit={({ to = '' }) => open(to)}
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
          <TextField
            name="to"
            label={texts.to}
            type="tel"
            inputMode="tel"
            placeholder="+1 415 555 0123"
            required
          />
        </>
      )}
    </FormDialog>
  );
}

/** Labels an option: `Reception, +1 (415) 555-0100`. A simulated number is marked, as options have no badges. */
function nameOf({ phone_number, label, simulated }: NumberResource): string {
  const number = formatPhoneNumber(phone_number);
  const name = label ? texts.labelled({ label, number }) : number;
  return simulated ? texts.simulated({ name }) : name;
}
