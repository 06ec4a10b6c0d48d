import { type ReactNode, useId } from 'react';
import { choiceBox } from './checkbox.tsx';
import { classNames } from './class-names.ts';

/** Radio buttons, each with an explanation. */
export function Choices<Value extends string>({
  legend,
  isLegendShown = false,
  options,
  chosen,
  onChoose,
}: {
  readonly legend: string;
  /** Whether the legend is visible. It is for screen readers only by default. */
  readonly isLegendShown?: boolean;
  readonly options: readonly { readonly value: Value; readonly label: string; readonly hint: string }[];
  readonly chosen: Value;
  readonly onChoose: (value: Value) => void;
}): ReactNode {
  const id = useId();
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className={isLegendShown ? 'mb-2 font-medium' : 'sr-only'}>{legend}</legend>
      {options.map(({ value, label, hint }) => (
        <div key={value} className="flex items-start gap-2.5">
          <input
            id={`${id}-${value}`}
            type="radio"
            name={id}
            className={classNames(choiceBox, 'rounded-full checked:border-[5px]')}
            checked={value === chosen}
            aria-describedby={`${id}-${value}-hint`}
            onChange={() => onChoose(value)}
          />
          <div className="min-w-0">
            <label htmlFor={`${id}-${value}`} className="font-medium">
              {label}
            </label>
            <p id={`${id}-${value}-hint`} className="text-quiet">
              {hint}
            </p>
          </div>
        </div>
      ))}
    </fieldset>
  );
}
