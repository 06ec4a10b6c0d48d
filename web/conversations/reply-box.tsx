import { useMutation } from '@tanstack/react-query';
import { ArrowUp, Paperclip, X } from 'lucide-react';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
} from 'react';
import type { ConversationMessageList } from '#contract/conversation.ts';
import { Button, IconButton } from '#web/kit/button.tsx';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { inputStyle } from '#web/kit/field.tsx';
import { useTeam } from '#web/shell/session.ts';
import { rereadConversations, sendMessage } from './conversation-queries.ts';
import { newIdempotencyKey } from './idempotency-key.ts';
import type { Draft } from './use-draft.ts';

/** The API's limit of a text (specification section 4.3). */
const contentMaxCharacters = 5_000;

/** A reply: Enter sends it, Shift and Enter begin a new line. A send that failed keeps the text. */
export function ReplyBox({
  thread: { number, contact },
  draft,
  onDraft,
  field,
}: {
  readonly thread: ConversationMessageList;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly field: RefObject<HTMLTextAreaElement | null>;
}): ReactNode {
  const team = useTeam();
  const { text, mediaUrl } = draft;
  const idempotencyKey = useRef(newIdempotencyKey());
  const from = number.phone_number;
  const sending = useMutation({
    mutationFn: () =>
      sendMessage(
        team.id,
        { from, to: contact, content: text, media_url: mediaUrl?.trim() || null },
        idempotencyKey.current,
      ),
    onSuccess: () => {
      idempotencyKey.current = newIdempotencyKey();
      onDraft({ text: '' });
      field.current?.focus();
      return rereadConversations(team.id, { phoneNumber: from, contact });
    },
  });
  useGrowingHeight(field, text);
  useFocusOnDesktop(field);
  const send = () => {
    if (text.trim() !== '' && !sending.isPending) sending.mutate();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also ends the choice of a character in Japanese and Chinese input.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const change = (changed: Draft) => {
    onDraft(changed);
    // Another text is another message.
    if (sending.error) {
      idempotencyKey.current = newIdempotencyKey();
      sending.reset();
    }
  };
  return (
    <div className="border-t border-line bg-surface px-4 py-3 md:px-5">
      <div className="mx-auto flex max-w-3xl flex-col gap-2">
        {sending.error && <ErrorNote error={sending.error} />}
        {mediaUrl !== undefined && (
          <div className="flex items-center gap-1">
            <input
              type="url"
              aria-label="Address of a file to attach"
              placeholder="https:// address of a picture or PDF, 5 MB at most"
              className={inputStyle}
              value={mediaUrl}
              onChange={(event) => change({ text, mediaUrl: event.target.value })}
              onKeyDown={onKeyDown}
              // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field
              autoFocus={mediaUrl === ''}
            />
            <IconButton label="Attach nothing" onClick={() => change({ text })}>
              <X />
            </IconButton>
          </div>
        )}
        <div className="flex items-end gap-1 rounded-[1.4rem] border border-line-strong/60 bg-page p-1 focus-within:border-accent">
          <IconButton
            label="Attach a file by its address"
            className="size-9 rounded-full max-sm:size-9"
            aria-expanded={mediaUrl !== undefined}
            onClick={() => change(mediaUrl === undefined ? { text, mediaUrl: '' } : { text })}
          >
            <Paperclip />
          </IconButton>
          <textarea
            ref={field}
            rows={1}
            dir="auto"
            value={text}
            maxLength={contentMaxCharacters}
            aria-label="Reply"
            placeholder="Message"
            className="max-h-40 min-h-9 flex-1 resize-none bg-transparent py-2 leading-snug outline-none placeholder:text-faint"
            onChange={(event) => change({ text: event.target.value, mediaUrl })}
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
    </div>
  );
}

/** On a phone the keyboard would cover half of the conversation. */
function useFocusOnDesktop(field: RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    if (matchMedia('(min-width: 48rem) and (hover: hover)').matches) {
      field.current?.focus({ preventScroll: true });
    }
  }, [field]);
}

/** The field is as high as its text, up to a limit. */
function useGrowingHeight(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text decides the height
  useLayoutEffect(() => {
    const { current } = field;
    if (!current) return;
    current.style.height = 'auto';
    current.style.height = `${current.scrollHeight}px`;
  }, [field, text]);
}
