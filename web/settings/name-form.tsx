import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from '#web/kit/button.tsx';
import { Form, TextField } from '#web/kit/field.tsx';
import { notify } from '#web/kit/toast.tsx';

export function NameForm({
  label,
  hint,
  value,
  autoComplete,
  save,
  saved,
}: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly autoComplete?: string;
  readonly save: (name: string) => Promise<unknown>;
  readonly saved: string;
}): ReactNode {
  const work = useMutation({ mutationFn: save, onSuccess: () => notify(saved) });
  return (
    <Form error={work.error} fields={['name']} onSubmit={({ name = '' }) => work.mutate(name)}>
      <TextField
        key={value}
        name="name"
        label={label}
        hint={hint}
        defaultValue={value}
        autoComplete={autoComplete ?? 'off'}
        required
        maxLength={100}
      />
      <Button type="submit" isBusy={work.isPending} className="self-start max-sm:self-stretch">
        Save name
      </Button>
    </Form>
  );
}
