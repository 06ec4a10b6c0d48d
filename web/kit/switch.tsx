import { Switch as BaseSwitch } from '@base-ui/react/switch';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

const track = classNames(
  'relative inline-flex h-6 w-10 shrink-0 rounded-full bg-line-strong p-0.5',
  'transition-colors data-checked:bg-accent data-disabled:opacity-55',
);

/** A switch that takes effect at once, without a form. */
export function Switch({
  label,
  isOn,
  isDisabled = false,
  onChange,
}: {
  readonly label: string;
  readonly isOn: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isOn: boolean) => void;
}): ReactNode {
  return (
    <BaseSwitch.Root
      aria-label={label}
      checked={isOn}
      disabled={isDisabled}
      onCheckedChange={onChange}
      className={track}
    >
      <BaseSwitch.Thumb className="size-5 rounded-full bg-white shadow transition-transform data-checked:translate-x-4" />
    </BaseSwitch.Root>
  );
}
