import type { UseQueryResult } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { isRateLimited, sentenceOf } from './error-note.tsx';
import { EmptyState } from './page.tsx';
import { RetryTime } from './retry-time.tsx';
import { Skeleton } from './skeleton.tsx';

/**
 * Shows the data of a read; until then a skeleton, and after a failure its sentence with a button to try again. A read that a
 * rate limiter refused is made again once it may be (rereadEvery).
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

/** A wait under 300 ms shows nothing, so that nothing flashes. */
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
  /** The page reads it again by itself. */
  readonly isTriedAgain?: boolean;
}): ReactNode {
  return (
    <div role="alert">
      <EmptyState
        icon={<TriangleAlert />}
        title="This could not be loaded"
        action={
          <Button onClick={onRetry} isBusy={isBusy}>
            Try again
          </Button>
        }
      >
        {sentenceOf(error)}
        {isRateLimited(error) && <RetryTime error={error} isAutomatic={isTriedAgain} />}
      </EmptyState>
    </div>
  );
}
