import { linkOptions } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from '#web/kit/page.tsx';
import { Tabs } from '#web/kit/tabs.tsx';
import { useTeam } from '#web/shell/session.ts';

export function TeamFrame({
  actions,
  children,
}: {
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  const team = useTeam();
  const params = { teamId: team.id };
  return (
    <Page title="Team" description={`The people of ${team.name}, and what they may do.`} actions={actions}>
      <Tabs
        label="Parts of the page Team"
        tabs={[
          { text: 'Members', link: linkOptions({ to: '/teams/$teamId/team', params }) },
          { text: 'Invitations', link: linkOptions({ to: '/teams/$teamId/team/invitations', params }) },
          ...(team.can('audit:read')
            ? [{ text: 'Audit log', link: linkOptions({ to: '/teams/$teamId/team/audit', params }) }]
            : []),
        ]}
      />
      {children}
    </Page>
  );
}
