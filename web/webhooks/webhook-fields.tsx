import { Field } from '@base-ui/react/field';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { EventType } from '#contract/event.ts';
import { plans } from '#contract/plans.ts';
import { Checkbox } from '#web/kit/checkbox.tsx';
import { TextField } from '#web/kit/field.tsx';
import { Select } from '#web/kit/select.tsx';
import { useNumberNames } from '#web/numbers/number-name.ts';
import { numbersQuery } from '#web/numbers/number-queries.ts';
import { useTeam } from '#web/shell/session.ts';
import { planUsageQuery } from '#web/usage/usage-queries.ts';
import { eventPlans, eventTypes } from './event-types.ts';
import { texts } from './texts.ts';

/** Choices of the webhook form. The number '' means all numbers of the team. */
export interface WebhookChoices {
  readonly events: readonly EventType[];
  readonly number: string;
}

/** The names of the form's fields, which are the `param` of the API's errors. */
export const webhookFields = ['url', 'events', 'phone_number'];

/** The fields of the form for a new or an existing webhook. */
export function WebhookFields({
  url = '',
  choices,
  onChoose,
}: {
  readonly url?: string;
  readonly choices: WebhookChoices;
  readonly onChoose: (choices: WebhookChoices) => void;
}): ReactNode {
  const { events, number } = choices;
  const toggle = (type: EventType, isOn: boolean) =>
    onChoose({
      ...choices,
      events: eventTypes.filter((one) => (one === type ? isOn : events.includes(one))),
    });
  const team = useTeam();
  const plan = useQuery(planUsageQuery(team.id)).data?.plan;
  const isMissing = (type: EventType) =>
    eventPlans[type] === 'standard' && plan !== undefined && !plans[plan].standard;
  return (
    <>
      <TextField
        name="url"
        label={texts.address}
        hint={texts.form.addressHint}
        placeholder={texts.form.addressExample}
        defaultValue={url}
        inputMode="url"
        autoCapitalize="none"
        spellCheck={false}
      />
      <Field.Root name="events" render={<fieldset className="grid gap-x-4 gap-y-2.5 sm:grid-cols-2" />}>
        <legend className="mb-2 font-medium">{texts.events}</legend>
        {eventTypes.map((type) => (
          <Checkbox
            key={type}
            label={type}
            hint={
              isMissing(type)
                ? texts.form.fromStarter({ occasion: texts.occasions[type] })
                : texts.occasions[type]
            }
            isOn={events.includes(type)}
            isDisabled={isMissing(type) && !events.includes(type)}
            onChange={(isOn) => toggle(type, isOn)}
          />
        ))}
        <Field.Error className="text-[0.8125rem] text-bad-ink sm:col-span-2" />
      </Field.Root>
      <NumberChoice value={number} onChange={(chosen) => onChoose({ ...choices, number: chosen })} />
    </>
  );
}

function NumberChoice({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (number: string) => void;
}): ReactNode {
  const team = useTeam();
  const numbers = useQuery(numbersQuery(team.id)).data?.numbers ?? [];
  const nameOf = useNumberNames();
  const known = numbers.map(({ phone_number }) => phone_number);
  // The webhook's number may be deleted or not loaded yet.
  const all = value === '' || known.includes(value) ? known : [...known, value];
  return (
    <Select
      label={texts.number}
      value={value}
      options={[['', texts.allNumbers], ...all.map((number) => [number, nameOf(number)] as const)]}
      onChange={onChange}
    />
  );
}
