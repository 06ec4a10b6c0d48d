import { type ReactNode, useId } from 'react';

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
        className="mt-0.5 grid size-4 shrink-0 appearance-none place-items-center rounded border-[1.5px] border-line-strong bg-surface checked:border-accent checked:bg-accent checked:after:h-2 checked:after:w-1 checked:after:-translate-y-px checked:after:rotate-45 checked:after:border-r-2 checked:after:border-b-2 checked:after:border-on-accent forced-colors:appearance-auto max-sm:size-5"
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
