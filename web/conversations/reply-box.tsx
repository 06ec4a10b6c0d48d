import { ArrowUp, Link2, Paperclip, Upload, X } from 'lucide-react';
import {
  type ChangeEvent,
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
} from 'react';
import { Button, IconButton } from '#web/kit/button.tsx';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { inputStyle } from '#web/kit/input-style.ts';
import { Menu, MenuItem } from '#web/kit/menu.tsx';
import { Handle } from '#web/kit/text.tsx';
import { type Composition, countCharacters } from './composition-store.ts';
import { sendableTypes } from './draft-file.ts';
import { FileCard } from './file-card.tsx';
import { texts as conversationTexts } from './texts.ts';
import type { CompositionActions } from './use-composition.ts';

const { reply: texts } = conversationTexts;

/** The API's limit for the text of a message (specification section 4.3). */
const contentMaxCharacters = 5_000;

/** The reply field: Enter sends, Shift+Enter starts a new line. The text of a refused message returns into it. */
export function ReplyBox({
  contact,
  isGroup,
  composition: { draft, error },
  actions,
  field,
}: {
  readonly contact: string;
  /** Whether the contact's last message came in a group. */
  readonly isGroup: boolean;
  readonly composition: Composition;
  readonly actions: CompositionActions;
  readonly field: RefObject<HTMLTextAreaElement | null>;
}): ReactNode {
  const { text, mediaUrl, file } = draft;
  const characters = countCharacters(text);
  const isTooLong = characters > contentMaxCharacters;
  const canSend = text.trim() !== '' && !isTooLong && (!file || file.media !== undefined);
  const picker = useRef<HTMLInputElement>(null);
  useGrowingHeight(field, text);
  useFocusOnDesktop(field);
  const send = () => {
    if (!canSend) return;
    actions.send();
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || choosesCharacter(event.nativeEvent)) return;
    event.preventDefault();
    send();
  };
  const onPaste = (event: ClipboardEvent) => {
    const { files, types } = event.clipboardData;
    // A document puts a picture of itself beside its text.
    if (!files[0] || types.includes('text/plain')) return;
    event.preventDefault();
    actions.attach(files[0]);
  };
  const onPick = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    if (currentTarget.files?.[0]) actions.attach(currentTarget.files[0]);
    // The same file can be chosen again.
    currentTarget.value = '';
    field.current?.focus();
  };
  return (
    <div data-reply-box className="border-t border-line bg-surface px-4 py-3 md:px-5">
      <div className="mx-auto flex max-w-3xl flex-col gap-2">
        {error && <ErrorNote error={error} />}
        {isGroup && (
          <p className="px-1 text-xs text-quiet">{texts.toGroup({ contact: <Handle value={contact} /> })}</p>
        )}
        {isTooLong && (
          <p role="status" className="px-1 text-xs text-bad-ink">
            {texts.tooLong({ count: characters, max: contentMaxCharacters })}
          </p>
        )}
        {file && <FileCard file={file} onRemove={actions.detach} onRetry={actions.attach} />}
        {mediaUrl !== undefined && (
          <div className="flex items-center gap-1">
            <input
              type="url"
              aria-label={texts.fileAddress}
              placeholder={texts.fileExample}
              className={inputStyle}
              value={mediaUrl}
              onChange={(event) => actions.write({ text, mediaUrl: event.target.value })}
              onKeyDown={onKeyDown}
              // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field
              autoFocus={mediaUrl === ''}
            />
            <IconButton label={texts.attachNothing} onClick={() => actions.write({ text })}>
              <X />
            </IconButton>
          </div>
        )}
        <div className="flex items-end gap-1 rounded-[1.4rem] border border-line-strong/60 bg-page p-1 focus-within:border-accent">
          <Menu
            side="top"
            align="start"
            trigger={
              <IconButton label={texts.attach} className="size-9 rounded-full max-sm:size-9">
                <Paperclip />
              </IconButton>
            }
          >
            <MenuItem onSelect={() => picker.current?.click()}>
              <Upload aria-hidden="true" /> {texts.fromComputer}
            </MenuItem>
            <MenuItem onSelect={() => actions.write({ text, mediaUrl: mediaUrl ?? '' })}>
              <Link2 aria-hidden="true" /> {texts.byAddress}
            </MenuItem>
          </Menu>
          <input ref={picker} type="file" accept={sendableTypes} hidden onChange={onPick} />
          <textarea
            ref={field}
            rows={1}
            dir="auto"
            value={text}
            aria-invalid={isTooLong}
            aria-label={texts.reply}
            placeholder={file ? texts.messageToFile : texts.message}
            className="max-h-40 min-h-9 flex-1 resize-none bg-transparent py-2 leading-snug outline-none placeholder:text-faint"
            onChange={(event) => actions.write({ ...draft, text: event.target.value })}
            onKeyDown={onKeyDown}
            onPaste={onPaste}
          />
          <Button
            look="primary"
            size="icon"
            aria-label={texts.send}
            title={texts.sendByEnter}
            className="size-9 rounded-full max-sm:size-9"
            disabled={!canSend}
            onClick={send}
          >
            <ArrowUp />
          </Button>
        </div>
      </div>
    </div>
  );
}

/** While an input method (IME) is open, Enter chooses a character. Safari reports that by the key code only. */
const choosesCharacter = ({ isComposing, keyCode }: KeyboardEvent['nativeEvent']) =>
  isComposing || keyCode === 229;

/** Focuses the field, except on phones, where the keyboard would cover half of the conversation. */
function useFocusOnDesktop(field: RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    if (matchMedia('(min-width: 48rem) and (hover: hover)').matches) {
      field.current?.focus({ preventScroll: true });
    }
  }, [field]);
}

/** Fits the height of the field to its text, up to a limit. */
function useGrowingHeight(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text decides the height
  useLayoutEffect(() => {
    const { current } = field;
    if (!current) return;
    current.style.height = 'auto';
    current.style.height = `${current.scrollHeight}px`;
  }, [field, text]);
}
