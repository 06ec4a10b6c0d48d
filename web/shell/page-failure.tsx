import type { ErrorComponentProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Failure } from '#web/kit/load-state.tsx';

/** Shown when a page failed. Most often its file is gone because the server was updated. */
export function PageFailure({ error }: ErrorComponentProps): ReactNode {
  return <Failure error={error as Error} onRetry={() => location.reload()} />;
}

/** Shown when the frame around the pages failed. */
export function FrameFailure(props: ErrorComponentProps): ReactNode {
  return (
    <main>
      <PageFailure {...props} />
    </main>
  );
}
