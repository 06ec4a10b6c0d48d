import { Users } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from '#web/kit/page.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Brand } from './brand.tsx';
import { useOverview } from './session.ts';

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
        <EmptyState icon={<Users />} title="You are in no team yet">
          Ask an owner or an admin of a team to invite {account.email}. The invitation comes by mail or as a
          link.
        </EmptyState>
      </main>
    </div>
  );
}
