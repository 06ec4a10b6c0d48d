import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import type { DialogProps } from './dialog-props.ts';
import { texts } from './texts.ts';
import { dismissNews } from './toast.tsx';

const backdrop = classNames(
  'fixed inset-0 z-40 bg-black/40 dark:bg-black/60',
  'transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0',
);

const popup = classNames(
  'fixed z-50 flex flex-col border border-line bg-raised shadow-raised',
  'transition-[translate,scale,opacity] duration-200 ease-out',
);

/** On a phone, the popup slides up from the bottom. */
const sheet = classNames(
  'max-sm:inset-x-0 max-sm:bottom-0 max-sm:max-h-[92dvh] max-sm:w-full max-sm:rounded-t-2xl',
  'max-sm:pb-[env(safe-area-inset-bottom)]',
  'max-sm:data-ending-style:translate-y-full max-sm:data-starting-style:translate-y-full',
);

/** The frame of dialogs and drawers. Its code is loaded when the first one opens. */
export function DialogFrame({ className, ...props }: DialogProps & { readonly className: string }) {
  const { isOpen, onClose, isClosedByButtonsOnly = false, isBusy = false } = props;
  // While a dialog fades out, it shows its last content, although its page has removed that content.
  const shown = useRef(props);
  if (isOpen) shown.current = props;
  const { title, description, children, footer } = shown.current;
  useEffect(() => {
    if (isOpen) dismissNews();
  }, [isOpen]);
  const content = useRef<HTMLDivElement>(null);
  const change = (open: boolean, { reason }: { readonly reason: string }) => {
    const isByButton = reason === 'close-press';
    if (!open && !isBusy && (isByButton || !isClosedByButtonsOnly)) onClose();
  };
  return (
    <BaseDialog.Root
      open={isOpen}
      onOpenChange={change}
      disablePointerDismissal={isClosedByButtonsOnly || isBusy}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={backdrop} />
        <BaseDialog.Popup
          data-over-page
          // The first field gets the focus, except after a touch, because the phone's keyboard would open.
          initialFocus={(how) =>
            how === 'touch' ||
            (content.current?.querySelector<HTMLElement>('input, textarea, select') ?? true)
          }
          className={classNames(popup, sheet, className)}
        >
          <header className="flex items-start justify-between gap-3 border-b border-line py-3.5 pr-3 pl-5">
            <div className="min-w-0">
              <BaseDialog.Title className="text-base font-semibold">{title}</BaseDialog.Title>
              {description !== undefined && (
                <BaseDialog.Description className="mt-0.5 text-quiet">{description}</BaseDialog.Description>
              )}
            </div>
            <BaseDialog.Close
              disabled={isBusy}
              render={<IconButton label={texts.dialogs.close} className="-my-1 shrink-0" />}
            >
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
