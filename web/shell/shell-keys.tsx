import { type ReactNode, useEffect, useState } from 'react';
import { isTyping } from '#web/kit/keys.ts';
import { lazyDialog } from '#web/kit/lazy-dialog.tsx';

const QuickSwitcher = lazyDialog(async () => (await import('./quick-switcher.tsx')).QuickSwitcher);
const KeysDialog = lazyDialog(async () => (await import('./keys-dialog.tsx')).KeysDialog);

/** Keys of every page: Ctrl or ⌘ with K opens the quick switcher, ? the list of keys. */
export function ShellKeys(): ReactNode {
  const [shown, setShown] = useState<'switcher' | 'keys'>();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isOverPage = document.querySelector('[data-over-page]') !== null;
      const isSwitch = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey;
      if (isOverPage || (!isSwitch && (event.key !== '?' || isTyping(event)))) return;
      event.preventDefault();
      setShown(isSwitch ? 'switcher' : 'keys');
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  const close = () => setShown(undefined);
  return (
    <>
      <QuickSwitcher isOpen={shown === 'switcher'} onClose={close} />
      <KeysDialog isOpen={shown === 'keys'} onClose={close} />
    </>
  );
}
