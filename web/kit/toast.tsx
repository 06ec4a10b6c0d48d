import { Toast } from '@base-ui/react/toast';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { texts } from './texts.ts';

interface ToastAction {
  readonly text: string;
  readonly onSelect: () => void;
  /** Without it the toast stays until the person closes it. */
  readonly timeoutMs?: number;
}

const manager = Toast.createToastManager();
/** Ids of toasts without an action, which `dismissNews` closes. */
const news = new Set<string>();

/**
 * Shows a toast, for results that have no place on the page.
 * @param subject replaces an earlier toast with the same subject; toasts with an action have none by default
 */
export function notify(
  title: string,
  description?: string,
  action?: ToastAction,
  subject = action ? undefined : title,
): void {
  const id = manager.add({
    ...(subject !== undefined && { id: subject }),
    title,
    description,
    ...(action && {
      timeout: action.timeoutMs ?? 0,
      actionProps: {
        children: action.text,
        onClick: () => {
          manager.close(id);
          action.onSelect();
        },
      },
    }),
  });
  if (!action) news.add(id);
}

/** Closes toasts without an action when a dialog or drawer opens. */
export function dismissNews(): void {
  for (const id of news) manager.close(id);
  news.clear();
}

/**
 * A toast's place: lower right, on phones above the tab bar. In a conversation: above the reply, on phones below the
 * head. Under a dialog or drawer: lower left, on phones the top.
 */
const place = classNames(
  'fixed right-4 bottom-4 z-60 flex w-[min(22rem,calc(100vw-2rem))] flex-col gap-2',
  'max-md:bottom-[calc(4.75rem+env(safe-area-inset-bottom))]',
  'md:[body:has([data-reply-box])_&]:bottom-24',
  'max-md:[body:has([data-reply-box])_&]:top-20 max-md:[body:has([data-reply-box])_&]:bottom-auto',
  'max-sm:[body:has([data-over-page])_&]:top-4 max-sm:[body:has([data-over-page])_&]:bottom-auto',
  'sm:[body:has([data-over-page])_&]:right-auto sm:[body:has([data-over-page])_&]:left-4',
);

/** Shows the latest toast. */
export function Toasts({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <Toast.Provider toastManager={manager} limit={1}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className={place}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function List(): ReactNode {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="flex animate-in items-start gap-3 rounded-xl border border-line bg-raised py-3 pr-2 pl-4 shadow-raised data-limited:hidden"
    >
      <Toast.Content className="min-w-0 flex-1">
        <Toast.Title className="font-medium" />
        <Toast.Description className="text-quiet" />
        <Toast.Action className="mt-1 font-medium text-accent-ink underline underline-offset-2" />
      </Toast.Content>
      <Toast.Close aria-label={texts.dialogs.dismiss} className="rounded-md p-1 text-quiet hover:bg-sunken">
        <X className="size-4" />
      </Toast.Close>
    </Toast.Root>
  ));
}
