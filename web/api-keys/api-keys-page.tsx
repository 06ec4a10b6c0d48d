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
import { Time } from '#web/kit/text.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { membersQuery } from '#web/team/member-queries.ts';
import { NoPermission } from '#web/team/no-permission.tsx';
import { apiKeysQuery, revokeApiKey } from './api-key-queries.ts';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { permissionsText } from './permission-texts.ts';

/** The page of API keys, on which members create and revoke them. */
export function ApiKeysPage(): ReactNode {
  if (useTeam().can('keys:manage')) return <ApiKeys />;
  return (
    <Page title="API keys">
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
    if (key.created_by === null) return 'the operator';
    return members.data?.members.find(({ id }) => id === key.created_by)?.name ?? 'a former member';
  };
  // Members may revoke their own keys, and all keys if they manage the team.
  const canRevoke = (key: ApiKey) => team.can('team:write') || key.created_by === team.member_id;
  const create = (
    <Button look="primary" onClick={() => setIsCreating(true)}>
      <Plus /> Create key
    </Button>
  );
  const columns: readonly Column<ApiKey>[] = [
    {
      head: 'Name',
      className: 'w-1/5',
      cell: ({ name, test }) => (
        <span className="font-medium">
          {name} {test && <Badge>Test</Badge>}
        </span>
      ),
    },
    { head: 'May do', cell: (key) => <span className="text-quiet">{permissionsText(key.permissions)}</span> },
    {
      head: 'Created',
      className: 'w-1/4',
      cell: (key) => (
        <span className="text-quiet">
          <span className="md:hidden">Created </span>
          <Time at={key.created_at} /> by {makerOf(key)}
        </span>
      ),
    },
    {
      head: 'Last used',
      className: 'w-32',
      cell: (key) => (
        <span className="text-quiet">
          <span className="md:hidden">Last used </span>
          {key.last_used_at === null ? 'never' : <Time at={key.last_used_at} />}
        </span>
      ),
    },
    {
      head: 'Actions',
      className: 'w-28 text-right max-md:pt-2',
      cell: (key) =>
        canRevoke(key) && (
          <Button
            size="small"
            look="dangerQuiet"
            aria-label={`Revoke ${key.name}`}
            onClick={() => setRevoked(key)}
          >
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <Page
      title="API keys"
      description="Programs send and read messages with a key. A key belongs to the team and outlives its maker."
      actions={keys.data && keys.data.keys.length > 0 && create}
    >
      <Card isFlush>
        <Loaded query={keys}>
          {(list) =>
            list.keys.length === 0 ? (
              <EmptyState icon={<KeyRound />} title="No keys yet" action={create}>
                Create one for each program that uses the API, so that you can revoke one without stopping the
                others.
              </EmptyState>
            ) : (
              <Table label="API keys" columns={columns} rows={list.keys} keyOf={({ id }) => id} />
            )
          }
        </Loaded>
      </Card>
      <CreateKeyDialog isOpen={isCreating} onClose={() => setIsCreating(false)} />
      <Confirm
        isOpen={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        title={`Revoke “${revoked?.name}”?`}
        action="Revoke key"
        onConfirm={async () => {
          if (!revoked) return;
          await revokeApiKey(team.id, revoked.id);
          await queryClient.invalidateQueries({ queryKey: [team.id, 'key'] });
          notify('The key is revoked', `Requests with “${revoked.name}” are refused from now on.`);
        }}
      >
        <p>Every program that uses it is refused within a second. It can’t be undone.</p>
      </Confirm>
    </Page>
  );
}
