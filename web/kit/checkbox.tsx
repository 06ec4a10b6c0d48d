import { type ReactNode, useId } from 'react';

/** A choice of its own, with a second line that explains it. */
export function Checkbox({
  label,
  hint,
  isOn,
  onChange,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}): ReactNode {
  const id = useId();
  return (
    <div className="flex items-start gap-2.5">
      <input
        id={id}
        type="checkbox"
        className="mt-0.5 size-4 shrink-0 accent-accent max-sm:size-5"
        checked={isOn}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div className="min-w-0 leading-snug">
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
