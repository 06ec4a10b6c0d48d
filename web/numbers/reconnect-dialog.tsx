import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { HomeNumber } from '#contract/home.ts';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { ActionDialog } from '#web/kit/task-dialog.tsx';
import { useTeam } from '#web/shell/session.ts';
import { reconnectNumber, rereadNumbers, verifyNumber } from './number-queries.ts';
import { SetupLinkActions } from './setup-link-actions.tsx';
import { madeLink, SetupLinkView } from './setup-link-view.tsx';

/** Creates a new setup link for a number, for its first iPhone or another one. */
export function ReconnectDialog({
  number,
  isOpen,
  onClose,
  isStarted,
  onStart,
}: {
  readonly number: HomeNumber;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Whether this page created a setup link before it was reloaded. */
  readonly isStarted: boolean;
  readonly onStart: () => void;
}): ReactNode {
  const team = useTeam();
  const { verified, phone_number: phoneNumber } = number;
  const creation = useMutation({
    mutationFn: async () => {
      const { setup_url } = await (verified
        ? reconnectNumber(team.id, number.id)
        : verifyNumber(team.id, phoneNumber));
      // The number is read before the link is shown, because its state still describes the earlier link.
      await rereadNumbers(team.id);
      return madeLink(setup_url, phoneNumber);
    },
    onSuccess: onStart,
  });
  const close = () => {
    onClose();
    creation.reset();
  };
  const link = creation.data ?? (isStarted ? { phoneNumber } : undefined);
  return (
    <ActionDialog
      isOpen={isOpen}
      onClose={close}
      title={`${verified ? 'Connect another iPhone to' : 'Connect'} ${formatPhoneNumber(phoneNumber)}`}
      action="Create setup link"
      work={creation}
      answer={
        link && {
          content: (
            <>
              <SetupLinkView link={link} onRenew={() => creation.mutate()} />
              {creation.error && <ErrorNote error={creation.error} className="mt-3" />}
            </>
          ),
          footer: <SetupLinkActions phoneNumber={link.phoneNumber} onClose={close} />,
        }
      }
    >
      <div className="flex flex-col gap-3 text-quiet">
        {verified ? (
          <>
            <p>
              For a new, repaired or reset iPhone, and to repeat the tests of the setup page on this one. The
              SIM or eSIM of the number has to be in it.
            </p>
            <p>
              The iPhone that is connected goes on working until the other one asks for its first message.
              Messages that wait, conversations and settings stay.
            </p>
          </>
        ) : (
          <p>A new setup link replaces the earlier one, which stops working at once.</p>
        )}
      </div>
    </ActionDialog>
  );
}
