import { useQuery } from '@tanstack/react-query';
import { Link, linkOptions, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { MessagesSquare, Smartphone } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { HomeNumber } from '#contract/home.ts';
import { rereadEvery, rereadMs } from '#web/api/query-client.ts';
import { homeQuery } from '#web/home/home-queries.ts';
import { buttonStyle } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState, Page } from '#web/kit/page.tsx';
import { Hint } from '#web/kit/text.tsx';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { useTeam } from '#web/shell/session.ts';
import { DeleteCard } from './delete-card.tsx';
import { DeviceChangeNote } from './device-change-note.tsx';
import { DoctorCard } from './doctor-card.tsx';
import { numberName } from './number-name.ts';
import { firstPollRereadMs } from './number-queries.ts';
import { NumberSettings } from './number-settings.tsx';
import type { NumberSearch } from './numbers-search.ts';
import { ReconnectDialog } from './reconnect-dialog.tsx';
import { StateCard } from './state-card.tsx';
import { texts } from './texts.ts';

/** The state, settings and checks of a number. */
export function NumberPage(): ReactNode {
  const team = useTeam();
  const { id: numberId } = useParams({ from: '/teams/$teamId/numbers/$id' });
  const home = useQuery({
    ...homeQuery(team.id),
    refetchInterval: rereadEvery((data) =>
      data?.numbers.find(({ id }) => id === numberId)?.verified === false ? firstPollRereadMs : rereadMs,
    ),
  });
  const number = home.data?.numbers.find(({ id }) => id === numberId);
  const name = number === undefined ? texts.page.title : numberName(number);
  return (
    <Page
      title={name}
      description={number?.label ? formatPhoneNumber(number.phone_number) : undefined}
      back={{
        text: texts.page.all,
        link: linkOptions({ to: '/teams/$teamId/numbers', params: { teamId: team.id } }),
      }}
      actions={
        number?.verified && (
          <Link
            to="/teams/$teamId/conversations"
            params={{ teamId: team.id }}
            search={{ number: number.phone_number }}
            className={buttonStyle()}
          >
            <MessagesSquare aria-hidden="true" /> {texts.page.conversations}
          </Link>
        )
      }
    >
      <Loaded query={home}>{() => (number ? <NumberParts number={number} /> : <Gone />)}</Loaded>
    </Page>
  );
}

function NumberParts({ number }: { readonly number: HomeNumber }) {
  const team = useTeam();
  const navigate = useNavigate();
  const { setup } = useSearch({ from: '/teams/$teamId/numbers/$id' });
  const canManage = team.can('numbers:write');
  const setSetup = (state: NumberSearch['setup']) =>
    void navigate({ to: '.', search: { setup: state }, replace: true });
  const canReconnect = canManage && !number.simulated;
  return (
    <div className="flex flex-col gap-5">
      {number.verified && <DeviceChangeNote number={number} />}
      <StateCard number={number} onSetup={canReconnect ? () => setSetup(true) : undefined} />
      {!number.simulated && number.verified && (
        <DoctorCard number={number} onSetup={canReconnect ? () => setSetup(true) : undefined} />
      )}
      <NumberSettings number={number} onSetup={canReconnect ? () => setSetup(true) : undefined} />
      {canManage ? <DeleteCard number={number} /> : <ManagedBy />}
      {canReconnect && (
        <ReconnectDialog
          number={number}
          isOpen={setup !== undefined}
          onClose={() => setSetup(undefined)}
          isStarted={setup === 'started'}
          onStart={() => setSetup('started')}
        />
      )}
    </div>
  );
}

function ManagedBy() {
  const administrators = useAdministratorNames();
  return <Hint>{texts.page.ask({ administrators })}</Hint>;
}

/** Shown if the number was deleted or is not of this team. */
function Gone() {
  const team = useTeam();
  return (
    <Card isFlush>
      <EmptyState
        icon={<Smartphone />}
        title={texts.page.gone}
        action={
          <Link to="/teams/$teamId/numbers" params={{ teamId: team.id }} className={buttonStyle()}>
            {texts.page.showAll}
          </Link>
        }
      >
        {texts.page.whyGone}
      </EmptyState>
    </Card>
  );
}
