import type { ReactNode } from 'react';

export interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  /** Buttons at the end of the dialog, the primary one last. */
  readonly footer?: ReactNode;
  /** Escape and a press beside the dialog do not close it, because its content is shown only once. */
  readonly isClosedByButtonsOnly?: boolean;
  /**
   * True while a request runs whose answer the dialog will show, such as a secret. Until then the dialog can't be
   * closed.
   */
  readonly isBusy?: boolean;
}
