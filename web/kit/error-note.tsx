import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** Why something did not work, in the sentence of the server. */
export function ErrorNote({
  error,
  className,
}: {
  readonly error: Error;
  readonly className?: string;
}): ReactNode {
  return (
    <Note tone="bad" className={className}>
      <span role="alert">{error.message}</span>
    </Note>
  );
}

const tones = {
  accent: 'bg-accent-tint text-accent-ink',
  warn: 'bg-warn-tint text-warn-ink',
  bad: 'bg-bad-tint text-bad-ink',
  good: 'bg-good-tint text-good-ink',
};

/** A sentence that stands out: a warning, a hint, an error. */
export function Note({
  tone,
  icon = <TriangleAlert />,
  className,
  children,
}: {
  readonly tone: keyof typeof tones;
  readonly icon?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div
      className={classNames(
        'flex gap-2.5 rounded-lg px-3.5 py-2.5 [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0',
        tones[tone],
        className,
      )}
    >
      {icon}
      <div className="min-w-0">{children}</div>
    </div>
  );
}
