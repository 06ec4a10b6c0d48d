import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { DialogButtons } from './dialog-buttons.tsx';
import { ErrorNote } from './error-note.tsx';

/** Asks for confirmation of an action that cannot be undone. */
export function Confirm({
  isOpen,
  onClose,
  title,
  children,
  action,
  keep = 'Keep it',
  isDangerous = true,
  onConfirm,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** The text of the button that acts, with a verb first: `Delete number`. */
  readonly action: string;
  readonly keep?: string;
  readonly isDangerous?: boolean;
  readonly onConfirm: () => Promise<unknown>;
}): ReactNode {
  const work = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      isBusy={work.isPending}
      title={title}
      footer={
        <DialogButtons
          onCancel={onClose}
          cancel={keep}
          canCancel={!work.isPending}
          look={isDangerous ? 'danger' : 'primary'}
          isBusy={work.isPending}
          onClick={() => work.mutate()}
        >
          {action}
        </DialogButtons>
      }
    >
      <div className="flex flex-col gap-3 text-quiet">{children}</div>
      {work.error && <ErrorNote error={work.error} className="mt-3" />}
    </Dialog>
  );
}
