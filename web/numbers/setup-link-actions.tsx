import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { homeQuery } from '#web/home/home-queries.ts';
import { Button, buttonStyle } from '#web/kit/button.tsx';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';

/** The buttons of the setup link dialog: first `Close`, and after the iPhone has connected `Done` and a next step. */
export function SetupLinkActions({
  phoneNumber,
  onClose,
}: {
  readonly phoneNumber: string;
  readonly onClose: () => void;
}): ReactNode {
  const team = useTeam();
  const home = useQuery(homeQuery(team.id));
  const number = home.data?.numbers.find(({ phone_number }) => phone_number === phoneNumber);
  if (number?.setup_link !== 'polled') return <Button onClick={onClose}>{texts.setup.close}</Button>;
  return (
    <>
      <Button onClick={onClose}>{texts.setup.done}</Button>
      {team.can('messages:send') && (
        <Link
          to="/teams/$teamId/conversations"
          params={{ teamId: team.id }}
          search={{ number: phoneNumber }}
          className={buttonStyle({ look: 'primary' })}
        >
          {texts.setup.sendFirst}
        </Link>
      )}
    </>
  );
}
