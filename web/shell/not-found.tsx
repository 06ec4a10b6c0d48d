import { Link } from '@tanstack/react-router';
import { MapPinOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { buttonStyle } from '#web/kit/button.tsx';
import { EmptyState } from '#web/kit/page.tsx';
import { UnsentTexts } from './signed-out.tsx';
import { texts } from './texts.ts';

/** Shown for an address without a page, and for a team of which the person is no member. */
export function NotFound(): ReactNode {
  return (
    <main>
      <EmptyState
        icon={<MapPinOff />}
        title={texts.notFound.title}
        action={
          <Link to="/" className={buttonStyle({ look: 'primary' })}>
            {texts.notFound.toStart}
          </Link>
        }
      >
        {texts.notFound.why}
      </EmptyState>
      <div className="mx-auto max-w-xl px-4">
        <UnsentTexts />
      </div>
    </main>
  );
}
