import type { ErrorComponentProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Failure } from '#web/kit/load-state.tsx';

/** A page that failed: most often its file could not be loaded, because the server was updated meanwhile. */
export function PageFailure({ error }: ErrorComponentProps): ReactNode {
  return <Failure error={error as Error} onRetry={() => location.reload()} />;
}

/** The frame around the pages failed. */
export function FrameFailure(props: ErrorComponentProps): ReactNode {
  return (
    <main>
      <PageFailure {...props} />
    </main>
  );
}
