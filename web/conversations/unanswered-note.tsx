import type { ReactNode } from 'react';
import { Button } from '#web/kit/button.tsx';
import { Note } from '#web/kit/error-note.tsx';
import type { Outgoing } from './composition-store.ts';
import type { CompositionActions } from './use-composition.ts';

/** Offers to repeat a message whose answer was lost. With the same idempotency key it is sent only once. */
export function UnansweredNote({
  outgoing: { message },
  actions: { send, takeBack, forget },
}: {
  readonly outgoing: Outgoing;
  readonly actions: CompositionActions;
}): ReactNode {
  return (
    <Note tone="warn">
      <p role="alert">
        No answer came, so this message may have been sent. Look whether it stands above. To try again is
        safe: it is sent once.
      </p>
      <blockquote dir="auto" className="mt-1 line-clamp-3 border-l-2 border-current pl-2 whitespace-pre-wrap">
        {message.text}
      </blockquote>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button size="small" look="primary" onClick={send}>
          Try again
        </Button>
        <Button size="small" onClick={takeBack}>
          Edit as another message
        </Button>
        <Button size="small" look="quiet" onClick={forget}>
          It was sent
        </Button>
      </div>
    </Note>
  );
}
