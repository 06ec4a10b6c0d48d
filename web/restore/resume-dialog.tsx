import { type ReactNode, useState } from 'react';
import type { ResumeRequest } from '#contract/restore.ts';
import { Checkbox } from '#web/kit/checkbox.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import type { DialogState } from '#web/kit/dialog.tsx';
import { exactTime } from '#web/kit/format.ts';
import { texts } from './texts.ts';

/** Asks whether waiting messages, and deliveries of a backup, go out, and ends the hold. */
export function ResumeDialog({
  isOpen,
  onClose,
  backupTakenAt,
  heldAt,
  onResume,
}: DialogState & {
  /** null after an outage, which holds only messages. */
  readonly backupTakenAt: string | null;
  readonly heldAt: string;
  readonly onResume: (choices: ResumeRequest) => Promise<unknown>;
}): ReactNode {
  const [cancelMessages, setCancelMessages] = useState(false);
  const [skipDeliveries, setSkipDeliveries] = useState(false);
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={texts.dialog.title}
      action={texts.dialog.resume}
      keep={texts.dialog.notYet}
      isDangerous={false}
      onConfirm={() => onResume({ cancel_messages: cancelMessages, skip_deliveries: skipDeliveries })}
    >
      <p>
        {backupTakenAt
          ? texts.dialog.about({ at: exactTime(backupTakenAt) })
          : texts.dialog.aboutOutage({ at: exactTime(heldAt) })}
      </p>
      <Checkbox
        label={backupTakenAt ? texts.dialog.cancelMessages : texts.dialog.cancelHeld}
        hint={backupTakenAt ? texts.dialog.cancelMessagesHint : texts.dialog.cancelHeldHint}
        isOn={cancelMessages}
        onChange={setCancelMessages}
      />
      {backupTakenAt && (
        <Checkbox
          label={texts.dialog.skipDeliveries}
          hint={texts.dialog.skipDeliveriesHint}
          isOn={skipDeliveries}
          onChange={setSkipDeliveries}
        />
      )}
    </Confirm>
  );
}
