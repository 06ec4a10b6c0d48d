import type { ReactNode } from 'react';
import { Button } from './button.tsx';

/** The buttons of a dialog: one cancels, one submits the form or acts. */
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
  readonly cancel?: string;
  /** False while a request runs whose answer the dialog will show. */
  readonly canCancel?: boolean;
  /** The id of the form to submit; without it, `onClick` acts. */
  readonly form?: string;
  readonly onClick?: () => void;
  readonly look?: 'primary' | 'danger';
  readonly isBusy?: boolean;
  readonly disabled?: boolean;
  /** The text of the second button, with a verb first. */
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
