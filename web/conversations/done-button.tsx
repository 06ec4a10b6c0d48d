import { Check, Undo2 } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import type { ConversationMessageList } from '#contract/conversation.ts';
import { Button } from '#web/kit/button.tsx';
import { isTyping } from '#web/kit/keys.ts';
import { texts } from './texts.ts';
import { useSetWaiting } from './use-set-waiting.ts';

const { done } = texts;

/** Marks the open conversation as done, or lets it wait again; the key E does the same. */
export function DoneButton({ thread }: { readonly thread: ConversationMessageList }): ReactNode {
  const setWaiting = useSetWaiting();
  const { number, contact, waiting, messages } = thread;
  const newestId = messages[0]?.id;
  const hasInbound = messages.some(({ direction }) => direction === 'inbound');
  const change =
    setWaiting && newestId !== undefined && (waiting || hasInbound)
      ? () => void setWaiting({ phoneNumber: number.phone_number, contact }, !waiting, newestId)
      : undefined;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'e' || !change || isTyping(event)) return;
      event.preventDefault();
      change();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  });
  if (!change) return null;
  const text = waiting ? done.done : done.again;
  return (
    <Button size="small" title={done.byKey({ text })} className="max-sm:w-10 max-sm:px-0" onClick={change}>
      {waiting ? <Check aria-hidden="true" /> : <Undo2 aria-hidden="true" />}
      <span className="max-sm:sr-only">{text}</span>
    </Button>
  );
}
