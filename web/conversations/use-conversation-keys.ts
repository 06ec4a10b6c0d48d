import { type RefObject, useEffect } from 'react';

/**
 * Keys of the page: ↑ and ↓ move the focus into and through the list, Alt+↑ and Alt+↓ open the neighbouring
 * conversation. Esc returns the focus from a thread to its row.
 */
export function useConversationKeys(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      // Dialogs and menus handle their own keys.
      if (event.defaultPrevented || event.isComposing || target.closest('[role=dialog], [role=menu]')) return;
      const rows = [...(list.current?.querySelectorAll<HTMLAnchorElement>('li > a') ?? [])];
      const open = rows.findIndex((row) => row.getAttribute('aria-current') === 'page');
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (step !== 0 && event.altKey) act(event, () => rows[open + step]?.click());
      else if (step !== 0 && list.current?.contains(target) && target.closest('li')) {
        act(event, () => rows[rows.indexOf(target as HTMLAnchorElement) + step]?.focus());
      } else if (step !== 0 && target === document.body) {
        act(event, () => rows[Math.max(0, open)]?.focus());
      } else if (event.key === 'Escape' && !list.current?.contains(target)) {
        act(event, () => rows[Math.max(0, open)]?.focus());
      }
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [list]);
}

function act(event: KeyboardEvent, work: () => void): void {
  event.preventDefault();
  work();
}
