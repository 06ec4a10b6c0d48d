import { type ReactNode, useState } from 'react';
import type { ResumeRequest } from '#contract/restore.ts';
import { Checkbox } from '#web/kit/checkbox.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import type { DialogState } from '#web/kit/dialog.tsx';
import { exactTime } from '#web/kit/format.ts';

/** Asks whether waiting messages and deliveries of the backup go out, and ends the restore hold. */
export function ResumeDialog({
  isOpen,
  onClose,
  backupTakenAt,
  onResume,
}: DialogState & {
  readonly backupTakenAt: string;
  readonly onResume: (choices: ResumeRequest) => Promise<unknown>;
}): ReactNode {
  const [cancelMessages, setCancelMessages] = useState(false);
  const [skipDeliveries, setSkipDeliveries] = useState(false);
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title="Resume sending"
      action="Resume"
      keep="Not yet"
      isDangerous={false}
      onConfirm={() => onResume({ cancel_messages: cancelMessages, skip_deliveries: skipDeliveries })}
    >
      <p>
        Messages that waited when the backup was taken ({exactTime(backupTakenAt)}) may have been sent since
        then. Resumed, they go out, perhaps for the second time. This is for all teams of the server.
      </p>
      <Checkbox
        label="Cancel the messages that waited in the backup"
        hint="They fail as cancelled and cost nothing. Messages that were accepted after the restore go out."
        isOn={cancelMessages}
        onChange={setCancelMessages}
      />
      <Checkbox
        label="Skip the deliveries that waited in the backup"
        hint="Webhooks do not get these events again. A replay can still deliver them."
        isOn={skipDeliveries}
        onChange={setSkipDeliveries}
      />
    </Confirm>
  );
}
