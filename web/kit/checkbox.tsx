import { type ReactNode, useId } from 'react';
import { classNames } from './class-names.ts';

/** The box of a checkbox or radio button. */
export const choiceBox = classNames(
  'mt-0.5 size-4 shrink-0 appearance-none border-[1.5px] border-line-strong bg-surface',
  'checked:border-accent forced-colors:appearance-auto max-sm:size-5',
);

/** Draws the tick as two sides of a small turned rectangle. */
const tickedBox = classNames(
  'grid place-items-center rounded checked:bg-accent checked:after:h-2 checked:after:w-1',
  'checked:after:-translate-y-px checked:after:rotate-45',
  'checked:after:border-r-2 checked:after:border-b-2 checked:after:border-on-accent',
);

export function Checkbox({
  label,
  hint,
  isOn,
  isDisabled = false,
  onChange,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly isOn: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isOn: boolean) => void;
}): ReactNode {
  const id = useId();
  return (
    <div className="flex items-start gap-2.5">
      <input
        id={id}
        type="checkbox"
        className={classNames(choiceBox, tickedBox)}
        checked={isOn}
        disabled={isDisabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div className={`min-w-0 leading-snug ${isDisabled ? 'text-quiet' : ''}`}>
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <div id={`${id}-hint`} className="text-xs text-quiet">
            {hint}
          </div>
        )}
      </div>
    </div>
  );
}
