import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { ApiKey } from '#contract/api-key.ts';
import { queryClient } from '#web/api/query-client.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState, Page } from '#web/kit/page.tsx';
import { type Column, Table } from '#web/kit/table.tsx';
import { Time } from '#web/kit/time.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { membersQuery } from '#web/team/member-queries.ts';
import { NoPermission } from '#web/team/no-permission.tsx';
import { apiKeysQuery, revokeApiKey } from './api-key-queries.ts';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { permissionsText } from './permission-texts.ts';
import { texts } from './texts.ts';

/** The page of API keys, on which members create and revoke them. */
export function ApiKeysPage(): ReactNode {
  if (useTeam().can('keys:manage')) return <ApiKeys />;
  return (
    <Page title={texts.title}>
      <NoPermission />
    </Page>
  );
}

function ApiKeys(): ReactNode {
  const team = useTeam();
  const keys = useQuery(apiKeysQuery(team.id));
  const members = useQuery(membersQuery(team.id));
  const [isCreating, setIsCreating] = useState(false);
  const [revoked, setRevoked] = useState<ApiKey>();
  const makerOf = (key: ApiKey) => {
    if (key.created_by === null) return texts.list.theOperator;
    return members.data?.members.find(({ id }) => id === key.created_by)?.name ?? texts.list.formerMember;
  };
  // Members may revoke their own keys, and all keys if they manage the team.
  const canRevoke = (key: ApiKey) => team.can('team:write') || key.created_by === team.member_id;
  const create = (
    <Button look="primary" onClick={() => setIsCreating(true)}>
      <Plus /> {texts.create.action}
    </Button>
  );
  const columns: readonly Column<ApiKey>[] = [
    {
      head: texts.list.name,
      className: 'w-1/5',
      cell: ({ name, test, answers_for_team }) => (
        <span className="font-medium">
          {name} {test && <Badge>{texts.list.test}</Badge>}{' '}
          {answers_for_team && <Badge>{texts.list.answers}</Badge>}
        </span>
      ),
    },
    {
      head: texts.list.mayDo,
      cell: (key) => <span className="text-quiet">{permissionsText(key.permissions)}</span>,
    },
    {
      head: texts.list.created,
      className: 'w-1/4',
      cell: (key) => (
        <span className="text-quiet">
          <span className="md:hidden">{texts.list.created} </span>
          {texts.list.createdBy({ at: <Time at={key.created_at} />, maker: makerOf(key) })}
        </span>
      ),
    },
    {
      head: texts.list.lastUsed,
      className: 'w-32',
      cell: (key) => (
        <span className="text-quiet">
          <span className="md:hidden">{texts.list.lastUsed} </span>
          {key.last_used_at === null ? texts.list.never : <Time at={key.last_used_at} />}
        </span>
      ),
    },
    {
      head: texts.list.actions,
      className: 'w-28 text-right max-md:pt-2',
      cell: (key) =>
        canRevoke(key) && (
          <Button
            size="small"
            look="dangerQuiet"
            aria-label={texts.revoke.one(key)}
            onClick={() => setRevoked(key)}
          >
            {texts.revoke.button}
          </Button>
        ),
    },
  ];
  return (
    <Page
      title={texts.title}
      description={texts.description}
      actions={keys.data && keys.data.keys.length > 0 && create}
    >
      <Card isFlush>
        <Loaded query={keys}>
          {(list) =>
            list.keys.length === 0 ? (
              <EmptyState icon={<KeyRound />} title={texts.list.none} action={create}>
                {texts.list.whyCreate}
              </EmptyState>
            ) : (
              <Table label={texts.title} columns={columns} rows={list.keys} keyOf={({ id }) => id} />
            )
          }
        </Loaded>
      </Card>
      <CreateKeyDialog isOpen={isCreating} onClose={() => setIsCreating(false)} />
      <Confirm
        isOpen={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        title={texts.revoke.title({ name: revoked?.name ?? '' })}
        action={texts.revoke.action}
        onConfirm={async () => {
          if (!revoked) return;
          await revokeApiKey(team.id, revoked.id);
          await queryClient.invalidateQueries({ queryKey: [team.id, 'key'] });
          notify(texts.revoke.revoked, texts.revoke.refused(revoked));
        }}
      >
        <p>{texts.revoke.effect}</p>
      </Confirm>
    </Page>
  );
}
