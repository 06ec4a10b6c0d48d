import { ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { inputStyle } from './input-style.ts';

/** A choice by the browser's own select element, which suits phones and keyboards. */
export function Select<Value extends string>({
  label,
  value,
  options,
  onChange,
  isLabelHidden = false,
  className,
}: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly onChange: (value: Value) => void;
  readonly isLabelHidden?: boolean;
  readonly className?: string;
}): ReactNode {
  return (
    <label className={classNames('flex flex-col gap-1.5', className)}>
      <span className={isLabelHidden ? 'sr-only' : 'font-medium'}>{label}</span>
      <span className="relative">
        <select
          className={classNames(inputStyle, 'appearance-none pr-8')}
          value={value}
          onChange={(event) => onChange(event.target.value as Value)}
        >
          {options.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
        <ChevronsUpDown
          aria-hidden="true"
          className="pointer-events-none absolute top-1/2 right-2.5 size-4 -translate-y-1/2 text-quiet"
        />
      </span>
    </label>
  );
}
