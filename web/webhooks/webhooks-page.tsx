import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { CreatedWebhook, Webhook } from '#contract/webhook.ts';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState, Page } from '#web/kit/page.tsx';
import { type Column, rowLink, Table } from '#web/kit/table.tsx';
import { useNumberNames } from '#web/numbers/number-name.ts';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { type CurrentTeam, useTeam } from '#web/shell/session.ts';
import { HealthBadge, HealthText } from './health.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { texts } from './texts.ts';
import { WebhookForm } from './webhook-form.tsx';
import { createWebhook, refreshWebhooks, webhooksQuery } from './webhook-queries.ts';

export function WebhooksPage(): ReactNode {
  const team = useTeam();
  const webhooks = useQuery(webhooksQuery(team.id));
  const administrators = useAdministratorNames();
  const nameOf = useNumberNames();
  const [isCreating, setIsCreating] = useState(false);
  const create = team.can('webhooks:manage') && (
    <Button look="primary" onClick={() => setIsCreating(true)}>
      <Plus /> {texts.create}
    </Button>
  );
  return (
    <Page
      title={texts.title}
      description={texts.description}
      actions={webhooks.data && webhooks.data.webhooks.length > 0 && create}
    >
      <Card isFlush>
        <Loaded query={webhooks}>
          {(list) =>
            list.webhooks.length === 0 ? (
              <EmptyState icon={<WebhookIcon />} title={texts.none} action={create || undefined}>
                {create ? texts.whyCreate : texts.askToCreate({ administrators })}
              </EmptyState>
            ) : (
              <Table
                label={texts.title}
                columns={columnsFor(team, nameOf)}
                rows={list.webhooks}
                keyOf={({ id }) => id}
              />
            )
          }
        </Loaded>
      </Card>
      {isCreating && <CreateWebhook onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function columnsFor(
  { id: teamId }: CurrentTeam,
  nameOf: (phoneNumber: string) => string,
): readonly Column<Webhook>[] {
  return [
    {
      head: texts.address,
      className: 'md:w-1/2',
      cell: ({ id, url, phone_number }) => (
        <>
          <Link
            to="/teams/$teamId/webhooks/$webhookId"
            params={{ teamId, webhookId: id }}
            className={`${rowLink} line-clamp-2`}
          >
            {url}
          </Link>
          {phone_number !== null && (
            <div className="text-quiet">{texts.onlyOf({ number: <bdi>{nameOf(phone_number)}</bdi> })}</div>
          )}
        </>
      ),
    },
    {
      head: texts.events,
      cell: ({ events }) => <span className="text-quiet">{events.join(', ')}</span>,
    },
    {
      head: texts.health,
      className: 'md:w-56',
      cell: (webhook) => (
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <HealthBadge webhook={webhook} />
          <span className="text-[0.8125rem] text-quiet">
            <HealthText webhook={webhook} />
          </span>
        </span>
      ),
    },
  ];
}

/** Creates a webhook and shows its secret. Then it opens the webhook's page, where a test can be sent. */
function CreateWebhook({ onClose }: { readonly onClose: () => void }): ReactNode {
  const team = useTeam();
  const navigate = useNavigate();
  const [made, setMade] = useState<CreatedWebhook>();
  if (made) {
    const leave = () => {
      onClose();
      void navigate({
        to: '/teams/$teamId/webhooks/$webhookId',
        params: { teamId: team.id, webhookId: made.id },
      });
    };
    return (
      <SecretDialog title={texts.secret.title} secret={made.secret} onClose={leave}>
        {texts.secret.what}
      </SecretDialog>
    );
  }
  return (
    <WebhookForm
      title={texts.form.createTitle}
      onClose={onClose}
      onSave={async (body) => {
        setMade(await createWebhook(team.id, body));
        await refreshWebhooks(team.id);
      }}
    />
  );
}
