import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** Buttons side by side, of which one is chosen. */
export function Segments<Value extends string>({
  label,
  options,
  names,
  chosen,
  onChoose,
}: {
  readonly label: string;
  readonly options: readonly Value[];
  /** The text of each option; without it the option is its text. */
  readonly names?: Readonly<Record<Value, string>>;
  readonly chosen: Value;
  readonly onChoose: (value: Value) => void;
}): ReactNode {
  return (
    <fieldset aria-label={label} className="flex rounded-lg border border-line bg-sunken p-0.5">
      {options.map((option) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === chosen}
          onClick={() => onChoose(option)}
          className={classNames(
            'rounded-md px-2.5 py-1 text-xs font-medium max-sm:py-2',
            option === chosen
              ? 'bg-accent-tint text-accent-ink ring-1 ring-accent'
              : 'text-quiet hover:text-ink',
          )}
        >
          {names?.[option] ?? option}
        </button>
      ))}
    </fieldset>
  );
}
