import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { ApiError } from '#web/api/request.ts';
import { setupTime } from '#web/home/connect-choice.ts';
import type { DialogState } from '#web/kit/dialog.tsx';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { TextField } from '#web/kit/field.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { useTeam } from '#web/shell/session.ts';
import { PlanLimitNote } from '#web/usage/plan-limit-note.tsx';
import { rereadNumbers, verifyNumber } from './number-queries.ts';
import { SetupLinkActions } from './setup-link-actions.tsx';
import { madeLink, SetupLinkView } from './setup-link-view.tsx';
import { texts } from './texts.ts';

/** Asks for the number of an iPhone, shows its setup link, and follows the progress until the iPhone is connected. */
export function ConnectDialog({
  isOpen,
  onClose,
  startedFor,
  onStart,
}: DialogState & {
  /** The number of a setup link that this page created before it was reloaded. */
  readonly startedFor: string | undefined;
  readonly onStart: (phoneNumber: string) => void;
}): ReactNode {
  const team = useTeam();
  const verification = useMutation({
    mutationFn: async (phoneNumber: string) => {
      const { setup_url } = await verifyNumber(team.id, phoneNumber).catch((error: Error) => {
        throw explained(error, phoneNumber);
      });
      return madeLink(setup_url, phoneNumber);
    },
    onSuccess: ({ phoneNumber }) => {
      onStart(phoneNumber);
      return rereadNumbers(team.id);
    },
  });
  const close = () => {
    onClose();
    verification.reset();
  };
  const link = verification.data ?? (startedFor === undefined ? undefined : { phoneNumber: startedFor });
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={close}
      title={link ? texts.setup.connectTo({ number: formatPhoneNumber(link.phoneNumber) }) : texts.connect}
      description={link ? undefined : texts.setup.needed({ setupTime })}
      action={texts.setup.create}
      work={verification}
      isHeld
      fields={['phone_number']}
      onSubmit={({ phone_number = '' }) => verification.mutate(phone_number.replaceAll(/[\s().-]/g, ''))}
      answer={
        link && {
          content: (
            <>
              <SetupLinkView link={link} onRenew={() => verification.mutate(link.phoneNumber)} />
              {verification.error && <ErrorNote error={verification.error} className="mt-3" />}
            </>
          ),
          footer: <SetupLinkActions phoneNumber={link.phoneNumber} onClose={close} />,
        }
      }
    >
      {!verification.error && <PlanLimitNote resource="numbers" />}
      <TextField
        name="phone_number"
        label={texts.setup.number}
        type="tel"
        autoComplete="tel"
        placeholder="+1 415 555 0100"
        required
        hint={texts.setup.numberHint}
      />
    </FormDialog>
  );
}

/** Explains refusals by what the person can do in the dashboard. */
function explained(error: Error, phoneNumber: string): Error {
  if (!(error instanceof ApiError)) return error;
  const sentence =
    error.code === 'conflict'
      ? texts.setup.taken({ number: formatPhoneNumber(phoneNumber) })
      : error.param === 'phone_number'
        ? texts.setup.wrongForm
        : undefined;
  if (sentence === undefined) return error;
  return new ApiError(error.status, {
    ...error.details,
    code: error.code,
    message: sentence,
    param: 'phone_number',
  });
}
