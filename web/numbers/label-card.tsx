import type { ReactNode } from 'react';
import type { NumberDetail } from '#contract/number.ts';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Form, TextField } from '#web/kit/field.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useUpdateNumber } from './use-update-number.ts';

/** The contract's limit is repeated here, because an import would load all schemas. */
const labelMaxCharacters = 100;

export function LabelCard({ number }: { readonly number: NumberDetail }): ReactNode {
  const update = useUpdateNumber(number.id);
  return (
    <Card title="Label" description="Its name in the dashboard and the API, such as Support.">
      <Form
        error={update.error}
        fields={['label']}
        className="gap-3"
        onSubmit={({ label = '' }) =>
          update.mutate({ label: label.trim() }, { onSuccess: () => notify('The label is saved') })
        }
      >
        <div className="flex items-start gap-2">
          <TextField
            key={number.label}
            name="label"
            label="Label"
            isLabelHidden
            className="max-w-96 flex-1"
            defaultValue={number.label}
            maxLength={labelMaxCharacters}
            placeholder="No label"
          />
          <Button type="submit" isBusy={update.isPending}>
            Save label
          </Button>
        </div>
      </Form>
    </Card>
  );
}
