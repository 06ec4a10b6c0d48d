import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ActionDialog } from './task-dialog.tsx';
import { texts } from './texts.ts';

/** Asks for confirmation of an action that cannot be undone. */
export function Confirm({
  isOpen,
  onClose,
  title,
  children,
  action,
  keep = texts.dialogs.keep,
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
    <ActionDialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      action={action}
      cancel={keep}
      look={isDangerous ? 'danger' : 'primary'}
      work={work}
      isHeld
    >
      <div className="flex flex-col gap-3 text-quiet">{children}</div>
    </ActionDialog>
  );
}
