import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { ErrorNote } from './error-note.tsx';

/** The button that reads a list's next page, and its error. */
export function LoadMore({
  list,
  size,
  className,
  children,
}: {
  readonly list: Pick<
    UseInfiniteQueryResult,
    'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'error' | 'fetchNextPage'
  >;
  readonly size?: 'normal' | 'small';
  readonly className?: string;
  readonly children: ReactNode;
}): ReactNode {
  if (!list.hasNextPage) return null;
  return (
    <div className={classNames('flex flex-col items-center gap-3', className)}>
      {list.isFetchNextPageError && list.error && <ErrorNote error={list.error} />}
      <Button size={size} isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {children}
      </Button>
    </div>
  );
}
