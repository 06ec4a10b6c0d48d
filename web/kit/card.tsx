import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** A group of things that belong together, with an optional head. */
export function Card({
  title,
  description,
  actions,
  className,
  isFlush = false,
  children,
}: {
  readonly title?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly className?: string;
  /** Without padding: for lists whose rows reach its edges. */
  readonly isFlush?: boolean;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <section className={classNames('rounded-xl border border-line bg-surface shadow-card', className)}>
      {title !== undefined && (
        <header className="flex flex-wrap items-start justify-between gap-3 px-5 pt-4 max-sm:px-4">
          <div>
            <h2 className="text-[0.9375rem] font-semibold">{title}</h2>
            {description !== undefined && <p className="mt-0.5 text-quiet">{description}</p>}
          </div>
          {actions}
        </header>
      )}
      <div
        className={
          isFlush ? (title === undefined ? undefined : 'mt-3 border-t border-line') : 'px-5 py-4 max-sm:px-4'
        }
      >
        {children}
      </div>
    </section>
  );
}
