import { classNames } from './class-names.ts';

export const inputStyle = classNames(
  'h-9 w-full min-w-0 rounded-lg border border-line-strong/60 bg-surface px-3 text-ink max-sm:h-11',
  'placeholder:text-faint hover:border-line-strong data-invalid:border-bad',
  'focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0',
);
