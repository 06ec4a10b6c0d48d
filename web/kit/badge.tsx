import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad';

const tones: Readonly<Record<Tone, string>> = {
  neutral: 'bg-sunken text-quiet',
  accent: 'bg-accent-tint text-accent-ink',
  good: 'bg-good-tint text-good-ink',
  warn: 'bg-warn-tint text-warn-ink',
  bad: 'bg-bad-tint text-bad-ink',
};

/** Shows a state as a word in colour. The word alone is enough to understand the state. */
export function Badge({
  tone = 'neutral',
  hasDot = false,
  children,
}: {
  readonly tone?: Tone;
  readonly hasDot?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <span
      className={classNames(
        'inline-flex items-center gap-1.5 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap',
        tones[tone],
      )}
    >
      {hasDot && <span aria-hidden="true" className="size-1.5 rounded-full bg-current" />}
      {children}
    </span>
  );
}
