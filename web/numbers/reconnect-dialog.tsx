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
import { texts } from './texts.ts';

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
      // The number is read again before the link is shown, because the loaded state still describes the earlier link.
      await rereadNumbers(team.id);
      return madeLink(setup_url, phoneNumber);
    },
    onSuccess: onStart,
  });
  const close = () => {
    onClose();
    creation.reset();
  };
  const named = { number: formatPhoneNumber(phoneNumber) };
  const link = creation.data ?? (isStarted ? { phoneNumber } : undefined);
  return (
    <ActionDialog
      isOpen={isOpen}
      onClose={close}
      title={verified ? texts.setup.connectAnotherTo(named) : texts.setup.connectTo(named)}
      action={texts.setup.create}
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
            <p>{texts.setup.forWhich}</p>
            <p>{texts.setup.untilThen}</p>
          </>
        ) : (
          <p>{texts.setup.replaces}</p>
        )}
      </div>
    </ActionDialog>
  );
}
