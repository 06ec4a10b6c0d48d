import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { Button } from '#web/kit/button.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { rereadNumbers, simulateNumber } from './number-queries.ts';

/** Creates a number with a simulated iPhone and opens its page. */
export function SimulateButton(): ReactNode {
  const team = useTeam();
  const navigate = useNavigate();
  const creation = useMutation({
    mutationFn: () => simulateNumber(team.id),
    onSuccess: async ({ id, phone_number }) => {
      await rereadNumbers(team.id);
      notify(
        'A simulated iPhone starts',
        `${formatPhoneNumber(phone_number)} sends and gets replies in a moment.`,
      );
      await navigate({ to: '/teams/$teamId/numbers/$id', params: { teamId: team.id, id } });
    },
    onError: (error) => notify('No simulated iPhone was made', error.message),
  });
  return (
    <Button isBusy={creation.isPending} onClick={() => creation.mutate()}>
      Try a simulated iPhone
    </Button>
  );
}
