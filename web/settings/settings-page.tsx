import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { queryClient } from '#web/api/query-client.ts';
import { teamRequest } from '#web/api/team-requests.ts';
import { densities, density } from '#web/conversations/density.ts';
import { useBrowserSetting } from '#web/kit/browser-setting.ts';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Form, TextField } from '#web/kit/field.tsx';
import { Page } from '#web/kit/page.tsx';
import { Segments } from '#web/kit/segments.tsx';
import { notify } from '#web/kit/toast.tsx';
import { NotificationsCard } from '#web/notifications/notifications-card.tsx';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { useOverview, useTeam } from '#web/shell/session.ts';
import { chooseTheme, chosenTheme, themes } from '#web/shell/theme.ts';
import { renameAccount, rereadAccount } from './account-queries.ts';
import { LanguageCard } from './language-card.tsx';
import { PasskeysCard } from './passkeys-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { SessionsCard } from './sessions-card.tsx';
import { texts } from './texts.ts';

const { comfortable, compact } = texts.appearance.densities;

function AppearanceCard(): ReactNode {
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <Card title={texts.appearance.title} description={texts.appearance.description}>
      <div className="flex flex-wrap gap-3">
        <Segments
          label={texts.appearance.theme}
          options={themes}
          names={texts.appearance.themes}
          chosen={theme}
          onChoose={(chosen) => {
            chooseTheme(chosen);
            setTheme(chosen);
          }}
        />
        <Segments
          label={texts.appearance.density}
          options={densities}
          names={{ comfortable, compact }}
          chosen={useBrowserSetting(density)}
          onChoose={(chosen) => density.set(chosen)}
        />
      </div>
    </Card>
  );
}

/** The team's name, and the person's own settings: name, sign-in, sessions, theme. */
export function SettingsPage(): ReactNode {
  return (
    <Page title={texts.title} description={texts.description}>
      <div className="flex max-w-[46rem] flex-col gap-5">
        <TeamCard />
        <AccountCard />
        <LanguageCard />
        <AppearanceCard />
        <NotificationsCard />
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
      <Card title={texts.team.title}>
        <p className="font-medium">{team.name}</p>
        <p className="mt-1 text-quiet">{texts.team.ask({ administrators })}</p>
      </Card>
    );
  }
  return (
    <Card title={texts.team.title}>
      <NameForm
        label={texts.team.name}
        hint={texts.team.nameHint}
        value={team.name}
        saved={texts.team.saved}
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
    <Card title={texts.account.title}>
      <NameForm
        label={texts.account.name}
        hint={texts.account.nameHint}
        value={account.name}
        autoComplete="name"
        saved={texts.account.saved}
        save={async (name) => {
          await renameAccount(name);
          await rereadAccount();
        }}
      />
      <dl className="mt-4 border-t border-line pt-4">
        <dt className="font-medium">{texts.account.email}</dt>
        <dd className="mt-0.5">{account.email}</dd>
        <dd className="text-[0.8125rem] text-quiet">{texts.account.emailHint}</dd>
      </dl>
    </Card>
  );
}

function NameForm({
  label,
  hint,
  value,
  autoComplete,
  save,
  saved,
}: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly autoComplete?: string;
  readonly save: (name: string) => Promise<unknown>;
  readonly saved: string;
}): ReactNode {
  const work = useMutation({ mutationFn: save, onSuccess: () => notify(saved) });
  return (
    <Form error={work.error} fields={['name']} onSubmit={({ name = '' }) => work.mutate(name)}>
      <TextField
        key={value}
        name="name"
        label={label}
        hint={hint}
        defaultValue={value}
        autoComplete={autoComplete ?? 'off'}
        required
        maxLength={100}
      />
      <Button type="submit" isBusy={work.isPending} className="self-start max-sm:self-stretch">
        {texts.saveName}
      </Button>
    </Form>
  );
}
