import type { UseQueryResult } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { isRateLimited, sentenceOf } from './error-note.tsx';
import { EmptyState } from './page.tsx';
import { RetryTime } from './retry-time.tsx';
import { Skeleton } from './skeleton.tsx';
import { texts } from './texts.ts';

/**
 * Shows the data of a query, a skeleton while it loads, or its error with a retry button. A query refused with a 429 is
 * repeated when its limit ends (rereadEvery).
 */
export function Loaded<Data>({
  query,
  skeleton = <Skeleton lines={6} />,
  children,
}: {
  readonly query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch' | 'isFetching'>;
  readonly skeleton?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}): ReactNode {
  if (query.data !== undefined) return children(query.data);
  if (query.error)
    return (
      <Failure
        error={query.error}
        onRetry={() => query.refetch()}
        isBusy={query.isFetching}
        isTriedAgain={isRateLimited(query.error)}
      />
    );
  return <Late>{skeleton}</Late>;
}

/** Shows nothing for the first 300 ms, so that a short wait does not flash. */
function Late({ children }: { readonly children: ReactNode }): ReactNode {
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return <div className={isLate ? 'animate-in' : 'invisible'}>{children}</div>;
}

export function Failure({
  error,
  onRetry,
  isBusy = false,
  isTriedAgain = false,
}: {
  readonly error: Error;
  readonly onRetry: () => void;
  readonly isBusy?: boolean;
  /** Whether the page repeats the failed query by itself. */
  readonly isTriedAgain?: boolean;
}): ReactNode {
  return (
    <div role="alert">
      <EmptyState
        icon={<TriangleAlert />}
        title={texts.notLoaded}
        action={
          <Button onClick={onRetry} isBusy={isBusy}>
            {texts.tryAgain}
          </Button>
        }
      >
        {sentenceOf(error)}
        {isRateLimited(error) && <RetryTime error={error} isAutomatic={isTriedAgain} />}
      </EmptyState>
    </div>
  );
}
