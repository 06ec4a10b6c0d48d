import { linkOptions } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from '#web/kit/page.tsx';
import { Tabs } from '#web/kit/tabs.tsx';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';

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
    <Page title={texts.title} description={texts.description({ team: team.name })} actions={actions}>
      <Tabs
        label={texts.parts.label}
        tabs={[
          { text: texts.parts.members, link: linkOptions({ to: '/teams/$teamId/team', params }) },
          {
            text: texts.parts.invitations,
            link: linkOptions({ to: '/teams/$teamId/team/invitations', params }),
          },
          ...(team.can('audit:read')
            ? [{ text: texts.parts.audit, link: linkOptions({ to: '/teams/$teamId/team/audit', params }) }]
            : []),
        ]}
      />
      {children}
    </Page>
  );
}
