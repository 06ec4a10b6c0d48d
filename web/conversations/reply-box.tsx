import { useMutation } from '@tanstack/react-query';
import { ArrowUp } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { ConversationMessageList } from '#contract/conversation.ts';
import { queryClient } from '#web/api/query-client.ts';
import { Button } from '#web/kit/button.tsx';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { useTeam } from '#web/shell/session.ts';
import { sendMessage } from './conversation-queries.ts';
import { newIdempotencyKey } from './idempotency-key.ts';

/** The API's limit of a text (specification section 4.3). */
const contentMaxCharacters = 5_000;

/** A reply: Enter sends it, Shift and Enter begin a new line. A send that failed keeps the text. */
export function ReplyBox({ thread }: { readonly thread: ConversationMessageList }): ReactNode {
  const team = useTeam();
  const { number, contact } = thread;
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const idempotencyKey = useRef(newIdempotencyKey());
  const sending = useMutation({
    mutationFn: (content: string) =>
      sendMessage(team.id, { from: number.phone_number, to: contact, content }, idempotencyKey.current),
    onSuccess: async () => {
      idempotencyKey.current = newIdempotencyKey();
      setText('');
      await queryClient.invalidateQueries({ queryKey: [team.id, 'message'] });
    },
  });
  useGrowingHeight(field, text);
  const hindrance = hindranceOf(thread, team.can('messages:send'));
  if (hindrance !== undefined) {
    return <p className="border-t border-line bg-surface px-5 py-4 text-center text-quiet">{hindrance}</p>;
  }
  const send = () => {
    if (text.trim() !== '' && !sending.isPending) sending.mutate(text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also ends the choice of a character in Japanese and Chinese input.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const change = (content: string) => {
    setText(content);
    // Another text is another message.
    if (sending.error) {
      idempotencyKey.current = newIdempotencyKey();
      sending.reset();
    }
  };
  return (
    <div className="border-t border-line bg-surface px-4 py-3 md:px-5">
      {sending.error && <ErrorNote error={sending.error} className="mb-2" />}
      <div className="mx-auto flex max-w-3xl items-end gap-2 rounded-[1.4rem] border border-line-strong/60 bg-page py-1 pr-1 pl-4 focus-within:border-accent">
        <textarea
          ref={field}
          rows={1}
          value={text}
          maxLength={contentMaxCharacters}
          aria-label="Reply"
          placeholder="Message"
          className="max-h-40 min-h-9 flex-1 resize-none bg-transparent py-2 leading-snug outline-none placeholder:text-faint"
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <Button
          look="primary"
          size="icon"
          aria-label="Send"
          title="Send (Enter)"
          className="size-9 rounded-full max-sm:size-9"
          isBusy={sending.isPending}
          disabled={text.trim() === ''}
          onClick={send}
        >
          {!sending.isPending && <ArrowUp />}
        </Button>
      </div>
    </div>
  );
}

/** Why nothing can be sent here; undefined where it can. */
function hindranceOf(
  { number, contact, opt_out }: ConversationMessageList,
  canSend: boolean,
): string | undefined {
  if (!canSend) return 'You can read here. To reply, ask an owner or an admin for the role Member.';
  if (opt_out) return 'This contact opted out, so nothing can be sent.';
  if (number.removed) return 'The number was deleted, so nothing can be sent from it.';
  if (!number.verified) return 'No iPhone is connected to this number yet.';
  if (number.status === 'paused') return 'The number is paused. Resume it to send.';
  if (!/^\+[1-9]\d{6,14}$/.test(contact)) return 'Replies go to phone numbers only.';
  return undefined;
}

/** The field is as high as its text, up to a limit. */
function useGrowingHeight(field: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text decides the height
  useLayoutEffect(() => {
    const { current } = field;
    if (!current) return;
    current.style.height = 'auto';
    current.style.height = `${current.scrollHeight}px`;
  }, [field, text]);
}
