import { type ComponentProps, type ReactNode, useId } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import type { DialogProps } from './dialog-props.ts';
import { ErrorNote } from './error-note.tsx';
import { Form } from './field.tsx';
import { texts } from './texts.ts';

interface TaskDialogProps extends Omit<DialogProps, 'footer' | 'isClosedByButtonsOnly' | 'isBusy'> {
  /** The call of the API operation, with its error. */
  readonly work: { readonly error: Error | null; readonly isPending: boolean };
  /** The text of the button that calls the operation, with a verb first. */
  readonly action: string;
  readonly cancel?: string;
  readonly look?: 'primary' | 'danger';
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  /** True: nothing closes the dialog while the operation runs, for example because its answer is shown only once. */
  readonly isHeld?: boolean;
  /**
   * Replaces the dialog's content once the operation has answered. Then only the buttons of `footer` close the dialog.
   */
  readonly answer?: { readonly content: ReactNode; readonly footer: ReactNode } | undefined;
}

/** A dialog with a form for an API operation. */
export function FormDialog({
  error,
  fields,
  onSubmit,
  children,
  ...dialog
}: TaskDialogProps &
  Pick<ComponentProps<typeof Form>, 'fields' | 'onSubmit'> & {
    /** The error to show instead of the operation's own. */
    readonly error?: Error | null;
  }): ReactNode {
  const id = useId();
  return (
    <TaskDialog {...dialog} button={{ type: 'submit', form: id }}>
      <Form
        id={id}
        error={error === undefined ? dialog.work.error : error}
        fields={fields}
        onSubmit={onSubmit}
      >
        {children}
      </Form>
    </TaskDialog>
  );
}

/** A dialog that asks for a decision, and calls an API operation. */
export function ActionDialog({
  children,
  ...dialog
}: TaskDialogProps & { readonly work: { readonly mutate: () => void } }): ReactNode {
  const { error, mutate } = dialog.work;
  return (
    <TaskDialog {...dialog} button={{ onClick: () => mutate() }}>
      <div className="flex flex-col gap-4">
        {children}
        {error && <ErrorNote error={error} />}
      </div>
    </TaskDialog>
  );
}

function TaskDialog({
  work,
  action,
  cancel = texts.dialogs.cancel,
  look = 'primary',
  isBusy = work.isPending,
  isDisabled = false,
  isHeld = false,
  answer,
  button,
  children,
  ...dialog
}: TaskDialogProps & { readonly button: Pick<ComponentProps<typeof Button>, 'type' | 'form' | 'onClick'> }) {
  const isLocked = isHeld && work.isPending;
  const buttons = (
    <>
      <Button disabled={isLocked} onClick={dialog.onClose}>
        {cancel}
      </Button>
      <Button look={look} isBusy={isBusy} disabled={isDisabled} {...button}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog
      {...dialog}
      isClosedByButtonsOnly={answer !== undefined}
      isBusy={isLocked}
      footer={answer ? answer.footer : buttons}
    >
      {answer ? answer.content : children}
    </Dialog>
  );
}
