import type { ReactNode } from 'react';
import { Page } from '#web/kit/page.tsx';
import { useTeam } from '#web/shell/session.ts';

export function HomePage(): ReactNode {
  const team = useTeam();
  return (
    <Page title="Home" description={team.name}>
      {null}
    </Page>
  );
}
