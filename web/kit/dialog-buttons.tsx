import type { ReactNode } from 'react';
import { Button } from './button.tsx';

/** The footer of a dialog: a button that closes it, and one that submits its form or does what it asks. */
export function DialogButtons({
  onCancel,
  cancel = 'Cancel',
  canCancel = true,
  form,
  look = 'primary',
  children,
  ...action
}: {
  readonly onCancel: () => void;
  /** The words of the first button. */
  readonly cancel?: string;
  /** False while a write runs whose answer the dialog will show. */
  readonly canCancel?: boolean;
  /** The id of the form to submit; without one, `onClick` acts. */
  readonly form?: string;
  readonly onClick?: () => void;
  readonly look?: 'primary' | 'danger';
  readonly isBusy?: boolean;
  readonly disabled?: boolean;
  /** The words of the second button, a verb first. */
  readonly children: ReactNode;
}): ReactNode {
  return (
    <>
      <Button disabled={!canCancel} onClick={onCancel}>
        {cancel}
      </Button>
      <Button look={look} type={form === undefined ? 'button' : 'submit'} form={form} {...action}>
        {children}
      </Button>
    </>
  );
}
