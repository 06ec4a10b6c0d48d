import { Link } from '@tanstack/react-router';
import { MapPinOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { buttonStyle } from '#web/kit/button.tsx';
import { EmptyState } from '#web/kit/page.tsx';
import { UnsentTexts } from './signed-out.tsx';

/** Shown for an address without a page, and for a team of which the person is no member. */
export function NotFound(): ReactNode {
  return (
    <main>
      <EmptyState
        icon={<MapPinOff />}
        title="There is no page at this address"
        action={
          <Link to="/" className={buttonStyle({ look: 'primary' })}>
            Go to the start
          </Link>
        }
      >
        The link may be incomplete, or it belongs to a team that you are not in, or no longer in.
      </EmptyState>
      <div className="mx-auto max-w-xl px-4">
        <UnsentTexts />
      </div>
    </main>
  );
}
