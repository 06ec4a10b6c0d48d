/**
 * Whether a key belongs to a field, a dialog, a menu, or a shortcut of the browser, or was handled already. Keys of a
 * page leave such a press alone.
 */
export function isTyping(event: KeyboardEvent): boolean {
  const { defaultPrevented, isComposing, ctrlKey, metaKey, altKey } = event;
  const target = event.target as HTMLElement;
  return (
    defaultPrevented ||
    isComposing ||
    ctrlKey ||
    metaKey ||
    altKey ||
    target.isContentEditable ||
    target.closest('input, textarea, select, [role=dialog], [role=menu]') !== null
  );
}
