import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import type { NumberDetail } from '#contract/number.ts';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Form, TextField } from '#web/kit/field.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { Skeleton } from '#web/kit/skeleton.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { CoverageCard } from './coverage-card.tsx';
import { numberQuery } from './number-queries.ts';
import { PacingCard } from './pacing-card.tsx';
import { texts } from './texts.ts';
import { UnconfirmedCard } from './unconfirmed-card.tsx';
import { useUpdateNumber } from './use-update-number.ts';

/** The settings of a number, read-only for people without permission. @param onSetup opens the setup link dialog */
export function NumberSettings({
  number,
  onSetup,
}: {
  readonly number: HomeNumber;
  readonly onSetup: (() => void) | undefined;
}): ReactNode {
  const team = useTeam();
  const query = useQuery(numberQuery(team.id, number.id));
  return (
    <Loaded
      query={query}
      skeleton={
        <Card isFlush>
          <Skeleton lines={6} />
        </Card>
      }
    >
      {(detail) => (
        <>
          {!number.simulated && number.verified && <CoverageCard number={number} onSetup={onSetup} />}
          <PacingCard number={detail} />
          <UnconfirmedCard number={detail} />
          {team.can('numbers:write') && <LabelCard number={detail} />}
        </>
      )}
    </Loaded>
  );
}

/** The contract's limit is repeated here, because an import would load all schemas. */
const labelMaxCharacters = 100;

function LabelCard({ number }: { readonly number: NumberDetail }): ReactNode {
  const update = useUpdateNumber(number.id);
  return (
    <Card title={texts.label.title} description={texts.label.description}>
      <Form
        error={update.error}
        fields={['label']}
        className="gap-3"
        onSubmit={({ label = '' }) =>
          update.mutate({ label: label.trim() }, { onSuccess: () => notify(texts.label.saved) })
        }
      >
        <div className="flex items-start gap-2">
          <TextField
            key={number.label}
            name="label"
            label={texts.label.title}
            isLabelHidden
            className="max-w-96 flex-1"
            defaultValue={number.label}
            maxLength={labelMaxCharacters}
            placeholder={texts.noLabel}
          />
          <Button type="submit" isBusy={update.isPending}>
            {texts.label.save}
          </Button>
        </div>
      </Form>
    </Card>
  );
}
