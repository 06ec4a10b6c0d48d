import { type ReactNode, useEffect, useState } from 'react';
import type { NumberDetail } from '#contract/number.ts';
import type { PacingSetting } from '#contract/pacing.ts';
import { ApiError } from '#web/api/request.ts';
import { TextField } from '#web/kit/field.tsx';
import { Select } from '#web/kit/select.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { Hint } from '#web/kit/text.tsx';
import { notify } from '#web/kit/toast.tsx';
import { texts } from './texts.ts';
import { useUpdateNumber } from './use-update-number.ts';

type LimitName = Exclude<keyof PacingSetting, 'mode'>;
type Mode = NonNullable<PacingSetting['mode']>;

interface LimitField {
  readonly name: LimitName;

  readonly min: number;
  readonly max: number;
}

/** The fields of the dialog, with the bounds of the API. */
const gaps: readonly LimitField[] = [
  { name: 'gap_min_seconds', min: 0, max: 3_600 },
  { name: 'gap_max_seconds', min: 0, max: 3_600 },
];
const windows: readonly LimitField[] = [
  { name: 'messages_per_hour', min: 1, max: 10_000 },
  { name: 'messages_per_day', min: 1, max: 100_000 },
];
const contacts: readonly LimitField[] = [
  { name: 'new_contacts_per_hour', min: 1, max: 1_000 },
  { name: 'new_contacts_per_day', min: 1, max: 1_000 },
  { name: 'unanswered_per_contact', min: 1, max: 1_000 },
];
const limitFields = [...gaps, ...windows, ...contacts];

const labels: Readonly<Record<LimitName, string>> = { ...texts.pacing.limits, ...texts.pacing.fields };

/** Assigns an error about both pauses to the field that the person filled. */
function explained(error: Error | null, given: PacingSetting | null | undefined): Error | null {
  if (!(error instanceof ApiError) || error.param !== 'pacing') return error;
  const isShortest = given?.gap_min_seconds !== undefined;
  return new ApiError(error.status, {
    code: error.code,
    message: isShortest ? texts.pacing.tooLong : texts.pacing.tooShort,
    param: isShortest ? 'gap_min_seconds' : 'gap_max_seconds',
  });
}

/** Sets the pacing mode and limits of a number. An empty limit means the server's default. */
export function PacingDialog({
  number,
  isOpen,
  onClose,
}: {
  readonly number: NumberDetail;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactNode {
  const { pacing } = number;
  const own: readonly string[] = pacing.set_by_number;
  const current: Mode = own.includes('mode') ? pacing.mode : 'default';
  const [mode, setMode] = useState<Mode>(current);
  const update = useUpdateNumber(number.id);
  const { reset } = update;
  useEffect(() => {
    if (!isOpen) return;
    setMode(current);
    reset();
  }, [isOpen, current, reset]);
  const save = (values: Readonly<Record<string, string>>) => {
    const limits = limitFields.flatMap(({ name }) => {
      const text = String(values[name] ?? '').trim();
      return text === '' ? [] : [[name, Number(text)] as const];
    });
    update.mutate(
      { pacing: { ...(mode === 'default' ? {} : { mode }), ...Object.fromEntries(limits) } },
      {
        onSuccess: () => {
          onClose();
          notify(texts.pacing.saved, texts.pacing.fromNext);
        },
      },
    );
  };
  const fields = (group: readonly LimitField[]) =>
    group.map(({ name, min, max }) => (
      <TextField
        key={name}
        name={name}
        label={labels[name]}
        type="number"
        inputMode="numeric"
        min={min}
        max={max}
        step={1}
        defaultValue={own.includes(name) ? String(pacing[name]) : ''}
        placeholder={own.includes(name) ? texts.pacing.default : String(pacing[name])}
      />
    ));
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={onClose}
      title={texts.pacing.change}
      description={texts.pacing.emptyLimit}
      action={texts.pacing.save}
      work={update}
      error={explained(update.error, update.variables?.pacing)}
      fields={limitFields.map(({ name }) => name)}
      onSubmit={save}
    >
      <Select
        label={texts.pacing.mode}
        value={mode}
        onChange={setMode}
        options={[
          [
            'default',
            current === 'default' ? texts.pacing.serverDefaultIs(pacing) : texts.pacing.serverDefault,
          ],
          ['off', texts.pacing.modes.off.option],
          ['gentle', texts.pacing.modes.gentle.option],
          ['strict', texts.pacing.modes.strict.option],
        ]}
      />
      <div className="grid items-start gap-4 sm:grid-cols-2">{fields(gaps)}</div>
      <div className="grid items-start gap-4 sm:grid-cols-2">{fields(windows)}</div>
      <Hint>{texts.pacing.contactsHint}</Hint>
      <div className="grid items-start gap-4 sm:grid-cols-2">{fields(contacts)}</div>
    </FormDialog>
  );
}
