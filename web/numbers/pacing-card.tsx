import { type ReactNode, useState } from 'react';
import type { NumberDetail } from '#contract/number.ts';
import type { Pacing } from '#contract/pacing.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { amount } from '#web/kit/format.ts';
import { useTeam } from '#web/shell/session.ts';

import { PacingDialog } from './pacing-dialog.tsx';
import { texts } from './texts.ts';

const { limits } = texts.pacing;
const limitNames = Object.keys(limits) as readonly (keyof typeof limits)[];

interface Limit {
  readonly name: string;
  readonly value: string;
  readonly fields: readonly (keyof Pacing)[];
}

function limitsOf(pacing: Pacing): readonly Limit[] {
  const { gap_min_seconds: min, gap_max_seconds: max } = pacing;
  return [
    {
      name: texts.pacing.gap,
      value: min === max ? texts.pacing.gapOf({ seconds: min }) : texts.pacing.gapFrom({ min, max }),
      fields: ['gap_min_seconds', 'gap_max_seconds'],
    },
    ...limitNames.map((name) => ({ name: limits[name], value: amount(pacing[name]), fields: [name] })),
  ];
}

/** The pacing of a number, the limits that it exceeds, and a dialog to change them. */
export function PacingCard({ number }: { readonly number: NumberDetail }): ReactNode {
  const team = useTeam();
  const [isChanging, setIsChanging] = useState(false);
  const { pacing, pacing_warnings: warnings } = number;
  const own: readonly string[] = pacing.set_by_number;
  const mode = texts.pacing.modes[pacing.mode];
  return (
    <Card
      title={texts.pacing.title}
      description={mode.sentence}
      actions={
        <div className="flex items-center gap-3">
          <Badge tone={pacing.mode === 'off' ? 'warn' : 'accent'}>{mode.text}</Badge>
          {team.can('numbers:write') && (
            <Button size="small" onClick={() => setIsChanging(true)}>
              {texts.pacing.change}
            </Button>
          )}
        </div>
      }
    >
      {warnings.length > 0 && (
        <Note tone="warn" className="mb-4">
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{texts.pacing.warnings[warning]}</li>
            ))}
          </ul>
          <p className="mt-1">{pacing.mode === 'gentle' ? texts.pacing.onlyWarned : texts.pacing.held}</p>
        </Note>
      )}
      {pacing.mode !== 'off' && (
        <dl className="grid gap-x-8 sm:grid-cols-2">
          {limitsOf(pacing).map(({ name, value, fields }) => (
            <div key={name} className="flex items-baseline justify-between gap-4 border-b border-line py-2">
              <dt className="text-quiet">{name}</dt>
              <dd className="shrink-0 text-right font-medium tabular-nums">
                {value}
                {fields.some((field) => own.includes(field)) && (
                  <span className="block text-xs font-normal text-quiet">{texts.pacing.ownLimit}</span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {pacing.mode === 'gentle' && (
        <p className="mt-3 text-[0.8125rem] text-quiet">{texts.pacing.gentleHint}</p>
      )}
      <PacingDialog number={number} isOpen={isChanging} onClose={() => setIsChanging(false)} />
    </Card>
  );
}
