import { lazy, type ReactNode, Suspense, useRef } from 'react';

export interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  /** Buttons at its end; the primary one last. */
  readonly footer?: ReactNode;
  /** It shows what is shown once: only its buttons close it, not Escape nor a press beside it. */
  readonly isClosedByButtonsOnly?: boolean;
  /** A write runs whose answer it will show, such as a secret: nothing closes it. */
  readonly isBusy?: boolean;
}

/** The part of a dialog's properties that its page controls. */
export type DialogState = Pick<DialogProps, 'isOpen' | 'onClose'>;

// Loaded with the first dialog: a page opens without it, and it is a sixth of all scripts.
const DialogFrame = lazy(async () => ({ default: (await import('./dialog-frame.tsx')).DialogFrame }));

function Frame(props: DialogProps & { readonly className: string }): ReactNode {
  const wasOpen = useRef(false);
  wasOpen.current ||= props.isOpen;
  if (!wasOpen.current) return null;
  return (
    <Suspense fallback={null}>
      <DialogFrame {...props} />
    </Suspense>
  );
}

/** A dialog; on a phone a sheet from the bottom. */
export function Dialog(props: DialogProps): ReactNode {
  return (
    <Frame
      {...props}
      className="sm:top-[12vh] sm:left-1/2 sm:max-h-[76vh] sm:w-[min(32rem,calc(100vw-2rem))] sm:-translate-x-1/2 sm:rounded-2xl sm:data-ending-style:scale-98 sm:data-ending-style:opacity-0 sm:data-starting-style:scale-98 sm:data-starting-style:opacity-0"
    />
  );
}

/** Details of a row, at the right edge; on a phone a sheet from the bottom. */
export function Drawer(props: DialogProps): ReactNode {
  return (
    <Frame
      {...props}
      className="sm:inset-y-0 sm:right-0 sm:w-[min(31rem,100vw)] sm:border-y-0 sm:border-r-0 sm:data-ending-style:translate-x-full sm:data-starting-style:translate-x-full"
    />
  );
}
