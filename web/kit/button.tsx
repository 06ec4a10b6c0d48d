import { cva, type VariantProps } from 'class-variance-authority';
import type { ComponentProps, ReactNode } from 'react';
import { classNames } from './class-names.ts';

export const buttonStyle = cva(
  [
    'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-lg font-medium whitespace-nowrap',
    'transition-colors select-none disabled:opacity-55 aria-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0',
  ],
  {
    variants: {
      look: {
        primary: 'bg-accent text-on-accent enabled:hover:bg-accent-hover',
        second: 'border border-line bg-surface text-ink shadow-card hover:bg-sunken',
        quiet: 'text-quiet hover:bg-sunken hover:text-ink',
        danger: 'bg-bad text-on-accent hover:opacity-90',
        dangerQuiet: 'border border-line bg-surface text-bad-ink hover:bg-bad-tint',
      },
      size: {
        normal: 'h-9 px-3.5 text-sm max-sm:h-11',
        small: 'h-8 px-2.5 text-[0.8125rem] max-sm:h-10',
        icon: 'size-9 max-sm:size-11',
      },
    },
    defaultVariants: { look: 'second', size: 'normal' },
  },
);

type ButtonProps = ComponentProps<'button'> &
  VariantProps<typeof buttonStyle> & {
    readonly isBusy?: boolean;
  };

export function Button({
  look,
  size,
  className,
  isBusy = false,
  disabled,
  children,
  ...rest
}: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={classNames(buttonStyle({ look, size }), className)}
      disabled={disabled || isBusy}
      aria-busy={isBusy || undefined}
      {...rest}
    >
      {isBusy && <Spinner />}
      {children}
    </button>
  );
}

/** A button with an icon only. Its label is the accessible name and the tooltip. */
export function IconButton({
  label,
  children,
  ...rest
}: ButtonProps & { readonly label: string }): ReactNode {
  return (
    <Button look="quiet" size="icon" aria-label={label} title={label} {...rest}>
      {children}
    </Button>
  );
}

export function Spinner(): ReactNode {
  return (
    <span
      aria-hidden="true"
      className="size-3.5 animate-spin rounded-full border-2 border-current border-r-transparent"
    />
  );
}
