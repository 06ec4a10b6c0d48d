import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** A box that stands out from the page. */
export const surface = 'rounded-xl border border-line bg-surface shadow-card';

/** A row of a list in a card without padding. */
export const cardRow = 'border-b border-line px-5 py-3 last:border-0 max-sm:px-4';

export function Card({
  id,
  title,
  description,
  actions,
  className,
  isFlush = false,
  children,
}: {
  readonly id?: string;
  readonly title?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly className?: string;
  /** Removes the padding of the card, for lists whose rows reach its edges. */
  readonly isFlush?: boolean;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <section id={id} className={classNames('scroll-mt-4', surface, className)}>
      {title !== undefined && (
        <header className="flex flex-wrap items-start justify-between gap-x-3 px-5 pt-3 max-sm:px-4">
          <div className="min-w-0">
            <h2
              className={classNames(
                'flex min-h-8 items-center text-[0.9375rem] font-semibold',
                actions !== undefined && 'max-sm:min-h-10',
              )}
            >
              {title}
            </h2>
            {description !== undefined && <p className="text-quiet">{description}</p>}
          </div>
          {actions}
        </header>
      )}
      <div
        className={classNames(
          !isFlush && 'px-5 py-4 max-sm:px-4',
          title !== undefined && (isFlush ? 'mt-2 border-t border-line' : 'pt-2'),
        )}
      >
        {children}
      </div>
    </section>
  );
}
