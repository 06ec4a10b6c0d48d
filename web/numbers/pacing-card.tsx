import { type ReactNode, useState } from 'react';
import type { NumberDetail } from '#contract/number.ts';
import type { Pacing, PacingMode } from '#contract/pacing.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { amount } from '#web/kit/format.ts';
import { useTeam } from '#web/shell/session.ts';
import { pacingWarningTexts } from './number-texts.ts';
import { PacingDialog } from './pacing-dialog.tsx';

const modeTexts: Readonly<Record<PacingMode, { readonly text: string; readonly sentence: string }>> = {
  off: {
    text: 'Off',
    sentence:
      'Messages go out as fast as the iPhone takes them. Apple may block a number that sends too fast.',
  },
  gentle: {
    text: 'Gentle',
    sentence: 'Messages go out with pauses and within the limits for an hour and a day. The rest waits.',
  },
  strict: {
    text: 'Strict',
    sentence:
      'As gentle, and messages to new contacts and to those who do not answer wait at their limits, too.',
  },
};

interface Limit {
  readonly name: string;
  readonly value: string;
  readonly fields: readonly (keyof Pacing)[];
}

function limitsOf(pacing: Pacing): readonly Limit[] {
  const { gap_min_seconds: min, gap_max_seconds: max } = pacing;
  return [
    {
      name: 'Pause between two messages',
      value: min === max ? `${amount(min)} s` : `${amount(min)} to ${amount(max)} s`,
      fields: ['gap_min_seconds', 'gap_max_seconds'],
    },
    { name: 'Messages an hour', value: amount(pacing.messages_per_hour), fields: ['messages_per_hour'] },
    { name: 'Messages a day', value: amount(pacing.messages_per_day), fields: ['messages_per_day'] },
    {
      name: 'New contacts an hour',
      value: amount(pacing.new_contacts_per_hour),
      fields: ['new_contacts_per_hour'],
    },
    {
      name: 'New contacts a day',
      value: amount(pacing.new_contacts_per_day),
      fields: ['new_contacts_per_day'],
    },
    {
      name: 'Messages to a contact without an answer',
      value: amount(pacing.unanswered_per_contact),
      fields: ['unanswered_per_contact'],
    },
  ];
}

/** The pacing of a number, the limits that it exceeds, and a dialog to change them. */
export function PacingCard({ number }: { readonly number: NumberDetail }): ReactNode {
  const team = useTeam();
  const [isChanging, setIsChanging] = useState(false);
  const { pacing, pacing_warnings: warnings } = number;
  const own: readonly string[] = pacing.set_by_number;
  return (
    <Card
      title="Pacing"
      description={modeTexts[pacing.mode].sentence}
      actions={
        <div className="flex items-center gap-3">
          <Badge tone={pacing.mode === 'off' ? 'warn' : 'accent'}>{modeTexts[pacing.mode].text}</Badge>
          {team.can('numbers:write') && (
            <Button size="small" onClick={() => setIsChanging(true)}>
              Change pacing
            </Button>
          )}
        </div>
      }
    >
      {warnings.length > 0 && (
        <Note tone="warn" className="mb-4">
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{pacingWarningTexts[warning]}</li>
            ))}
          </ul>
          <p className="mt-1">
            {pacing.mode === 'gentle'
              ? 'Gentle pacing only warns of this. Apple may take it for spam and block the number: strict pacing holds such messages back.'
              : 'Further messages of this kind wait.'}
          </p>
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
                  <span className="block text-xs font-normal text-quiet">set for this number</span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {pacing.mode === 'gentle' && (
        <p className="mt-3 text-[0.8125rem] text-quiet">
          Gentle pacing only warns of the limits for new contacts and for messages without an answer.
        </p>
      )}
      <PacingDialog number={number} isOpen={isChanging} onClose={() => setIsChanging(false)} />
    </Card>
  );
}
