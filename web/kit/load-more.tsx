import type { ReactNode } from 'react';
import type { useList } from '#web/api/lists.ts';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { ErrorNote } from './error-note.tsx';

/** The button that loads older rows of a list, and its error. */
export function LoadMore({
  list,
  size,
  className,
  children,
}: {
  readonly list: Pick<ReturnType<typeof useList>, 'hasMore' | 'older'>;
  readonly size?: 'normal' | 'small';
  readonly className?: string;
  readonly children: ReactNode;
}): ReactNode {
  const { hasMore, older } = list;
  if (!hasMore) return null;
  return (
    <div className={classNames('flex flex-col items-center gap-3', className)}>
      {older.error && <ErrorNote error={older.error} />}
      <Button size={size} isBusy={older.isLoading} onClick={older.load}>
        {children}
      </Button>
    </div>
  );
}
