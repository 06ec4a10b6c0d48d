import { lazy, type ReactNode, Suspense } from 'react';
import { useOverview } from '#web/shell/session.ts';

// Few servers are restored, so the banner is no part of the first load.
const HeldBanner = lazy(async () => ({ default: (await import('./held-banner.tsx')).HeldBanner }));

/** A banner on every page during a restore hold (specification section 10.8). */
export function RestoreBanner({ teamId }: { readonly teamId: string }): ReactNode {
  const { is_held: isHeld } = useOverview();
  return (
    isHeld && (
      <Suspense fallback={null}>
        <HeldBanner teamId={teamId} />
      </Suspense>
    )
  );
}
