import type { ReactNode } from 'react';
import { queryClient } from '#web/api/query-client.ts';
import { teamRequest } from '#web/api/team-requests.ts';
import { Card } from '#web/kit/card.tsx';
import { Page } from '#web/kit/page.tsx';
import { useOverview, useTeam } from '#web/shell/session.ts';
import { useAdministratorNames } from '#web/team/administrators.ts';
import { renameAccount, rereadAccount } from './account-queries.ts';
import { NameForm } from './name-form.tsx';
import { PasskeysCard } from './passkeys-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { SessionsCard } from './sessions-card.tsx';
import { ThemeCard } from './theme-card.tsx';

/** The team's name, and the person's own settings: name, sign-in, sessions, theme. */
export function SettingsPage(): ReactNode {
  return (
    <Page title="Settings" description="The name of the team, and your own account.">
      <div className="flex max-w-[46rem] flex-col gap-5">
        <TeamCard />
        <AccountCard />
        <ThemeCard />
        <PasskeysCard />
        <PasswordCard />
        <SessionsCard />
      </div>
    </Page>
  );
}

function TeamCard(): ReactNode {
  const team = useTeam();
  const administrators = useAdministratorNames();
  if (!team.can('team:write')) {
    return (
      <Card title="Team">
        <p className="font-medium">{team.name}</p>
        <p className="mt-1 text-quiet">To change the name, ask {administrators}.</p>
      </Card>
    );
  }
  return (
    <Card title="Team">
      <NameForm
        label="Name of the team"
        hint="Members see it, and people that you invite."
        value={team.name}
        saved="The team has its new name"
        save={async (name) => {
          await teamRequest(team.id, 'PUT', '/team', { name });
          await queryClient.invalidateQueries({ queryKey: [team.id, 'team'] });
          await rereadAccount();
        }}
      />
    </Card>
  );
}

function AccountCard(): ReactNode {
  const { account } = useOverview();
  return (
    <Card title="You">
      <NameForm
        label="Your name"
        hint="Your teams see it beside what you do."
        value={account.name}
        autoComplete="name"
        saved="Your name is saved"
        save={async (name) => {
          await renameAccount(name);
          await rereadAccount();
        }}
      />
      <dl className="mt-4 border-t border-line pt-4">
        <dt className="font-medium">E-mail address</dt>
        <dd className="mt-0.5">{account.email}</dd>
        <dd className="text-[0.8125rem] text-quiet">
          You sign in with it, and it can’t be changed. With another address you are another person: have it
          invited.
        </dd>
      </dl>
    </Card>
  );
}
