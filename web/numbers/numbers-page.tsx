import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, Smartphone } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { HomeNumber } from '#contract/home.ts';
import { connectChoice } from '#web/home/connect-choice.ts';
import { homeQuery } from '#web/home/home-queries.ts';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState, Page } from '#web/kit/page.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { useTeam } from '#web/shell/session.ts';
import { ConnectDialog } from './connect-dialog.tsx';
import { NumberCard } from './number-card.tsx';
import { rereadNumbers, simulateNumber } from './number-queries.ts';
import type { NumbersSearch } from './numbers-search.ts';
import { texts } from './texts.ts';

/** The team's numbers with state and likely cause. */
export function NumbersPage(): ReactNode {
  const team = useTeam();
  const home = useQuery(homeQuery(team.id));
  const { connect } = useSearch({ from: '/teams/$teamId/numbers' });
  const navigate = useNavigate();
  const setConnect = (state: NumbersSearch['connect']) =>
    void navigate({ to: '.', search: { connect: state }, replace: true });
  const canManage = team.can('numbers:write');
  const numbers = home.data?.numbers ?? [];
  const connectButton = (
    <Button look="primary" onClick={() => setConnect(true)}>
      <Plus /> {texts.connect}
    </Button>
  );
  return (
    <Page
      title={texts.title}
      description={texts.description}
      actions={
        canManage &&
        numbers.length > 0 && (
          <>
            {connectButton}
            {!numbers.some(({ simulated }) => simulated) && <SimulateButton />}
          </>
        )
      }
    >
      <Loaded query={home}>
        {({ numbers }) =>
          numbers.length === 0 ? (
            <Card isFlush>{canManage ? <NoNumbers connectButton={connectButton} /> : <AskForNumber />}</Card>
          ) : (
            <>
              <ul className="grid grid-cols-1 gap-4 lg:grid-cols-2">
                {numbers.map((number: HomeNumber) => (
                  <NumberCard key={number.id} number={number} />
                ))}
              </ul>
              {!canManage && <ManagedBy />}
            </>
          )
        }
      </Loaded>
      {canManage && (
        <ConnectDialog
          isOpen={connect !== undefined}
          onClose={() => setConnect(undefined)}
          startedFor={typeof connect === 'string' ? connect : undefined}
          onStart={setConnect}
        />
      )}
    </Page>
  );
}

function NoNumbers({ connectButton }: { readonly connectButton: ReactNode }) {
  return (
    <EmptyState
      icon={<Smartphone />}
      title={texts.none}
      action={
        <>
          {connectButton}
          <SimulateButton />
        </>
      }
    >
      {connectChoice}
    </EmptyState>
  );
}

function AskForNumber() {
  const administrators = useAdministratorNames();
  return (
    <EmptyState icon={<Smartphone />} title={texts.none}>
      {texts.askToConnect({ administrators })}
    </EmptyState>
  );
}

function ManagedBy() {
  const administrators = useAdministratorNames();
  return <p className="mt-4 text-[0.8125rem] text-quiet">{texts.askToManage({ administrators })}</p>;
}

/** Creates a number with a simulated iPhone and opens its page. */
function SimulateButton(): ReactNode {
  const team = useTeam();
  const navigate = useNavigate();
  const creation = useMutation({
    mutationFn: () => simulateNumber(team.id),
    onSuccess: async ({ id, phone_number }) => {
      await rereadNumbers(team.id);
      notify(texts.simulation.starts, texts.simulation.soon({ number: formatPhoneNumber(phone_number) }));
      await navigate({ to: '/teams/$teamId/numbers/$id', params: { teamId: team.id, id } });
    },
    onError: (error) => notify(texts.simulation.failed, error.message),
  });
  return (
    <Button isBusy={creation.isPending} onClick={() => creation.mutate()}>
      {texts.simulate}
    </Button>
  );
}
