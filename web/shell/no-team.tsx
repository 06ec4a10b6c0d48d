import { Users } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from '#web/kit/page.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Brand } from './brand.tsx';
import { useOverview } from './session.ts';
import { texts } from './texts.ts';

/** Tells an account without a team how to join one. */
export function NoTeam(): ReactNode {
  const { account } = useOverview();
  return (
    <div className="min-h-dvh">
      <header className="flex h-14 items-center justify-between border-b border-line bg-surface px-4">
        <Brand />
        <AccountMenu isSmall />
      </header>
      <main>
        <EmptyState icon={<Users />} title={texts.noTeam.title}>
          {texts.noTeam.how({ email: account.email })}
        </EmptyState>
      </main>
    </div>
  );
}
