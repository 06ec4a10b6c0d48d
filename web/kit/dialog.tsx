import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  /** Buttons at its end; the primary one last. */
  readonly footer?: ReactNode;
  /** It shows what is shown once: only its buttons close it, not Escape nor a press beside it. */
  readonly isClosedByButtonsOnly?: boolean;
}

const backdrop =
  'fixed inset-0 z-40 bg-black/40 transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0 dark:bg-black/60';
const sheet =
  'max-sm:inset-x-0 max-sm:bottom-0 max-sm:max-h-[92dvh] max-sm:w-full max-sm:rounded-t-2xl max-sm:pb-[env(safe-area-inset-bottom)] max-sm:data-ending-style:translate-y-full max-sm:data-starting-style:translate-y-full';

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

function Frame({ className, ...props }: DialogProps & { readonly className: string }) {
  const { isOpen, onClose, isClosedByButtonsOnly = false } = props;
  // While it fades out it shows what it showed, though its page has forgotten that.
  const shown = useRef(props);
  if (isOpen) shown.current = props;
  const { title, description, children, footer } = shown.current;
  const content = useRef<HTMLDivElement>(null);
  const change = (open: boolean, { reason }: { readonly reason: string }) => {
    const isByButton = reason === 'close-press';
    if (!open && (isByButton || !isClosedByButtonsOnly)) onClose();
  };
  return (
    <BaseDialog.Root open={isOpen} onOpenChange={change} disablePointerDismissal={isClosedByButtonsOnly}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={backdrop} />
        <BaseDialog.Popup
          // The first field, except where a touch would bring the keyboard up.
          initialFocus={(how) =>
            how === 'touch' ||
            (content.current?.querySelector<HTMLElement>('input, textarea, select') ?? true)
          }
          className={classNames(
            'fixed z-50 flex flex-col border border-line bg-raised shadow-raised transition-[translate,scale,opacity] duration-200 ease-out',
            sheet,
            className,
          )}
        >
          <header className="flex items-start justify-between gap-3 border-b border-line py-3.5 pr-3 pl-5">
            <div className="min-w-0">
              <BaseDialog.Title className="text-base font-semibold">{title}</BaseDialog.Title>
              {description !== undefined && (
                <BaseDialog.Description className="mt-0.5 text-quiet">{description}</BaseDialog.Description>
              )}
            </div>
            <BaseDialog.Close render={<IconButton label="Close" className="-my-1 shrink-0" />}>
              <X />
            </BaseDialog.Close>
          </header>
          <div ref={content} className="min-h-0 flex-1 overflow-y-auto px-5 py-4">
            {children}
          </div>
          {footer !== undefined && (
            <footer className="flex justify-end gap-2 border-t border-line px-5 py-3 max-sm:[&>*]:flex-1">
              {footer}
            </footer>
          )}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
