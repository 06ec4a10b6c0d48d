import { Clock, ImageOff, Repeat2, UsersRound } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import type { ConversationMessage, ConversationMessageList } from '#contract/conversation.ts';
import { classNames } from '#web/kit/class-names.ts';
import { exactTime, timeOfDay } from '#web/kit/format.ts';
import { Attachment } from '#web/messages/attachment.tsx';
import {
  possibleRepeatText,
  statusTexts,
  waitingSentence,
  waitingTexts,
} from '#web/messages/status-texts.ts';
import { splitLinks } from '../kit/split-links.ts';
import type { DraftFile, Outgoing } from './composition-store.ts';
import { SentFile } from './file-card.tsx';
import { texts } from './texts.ts';

type Waiting = ConversationMessageList['queued'];

/** Actions on messages that failed or wait; those that the person may not take are missing. */
export interface BubbleActions {
  /** Copies the message into the reply. */
  readonly edit?: ((message: ConversationMessage) => void) | undefined;
  /** Sends the message as a new one. */
  readonly send?: ((message: ConversationMessage) => void) | undefined;
  readonly cancel?: ((message: ConversationMessage) => void) | undefined;
}

interface BubbleProps {
  readonly message: ConversationMessage;
  readonly waiting: Waiting;
  /** The state of a message that the server has not accepted yet. */
  readonly sending: Outgoing['state'] | undefined;
  /** The file of such a message. */
  readonly file: DraftFile | undefined;
  /** Whether the status is shown: true for the newest outbound message. Waiting and failed messages always show it. */
  readonly isStatusShown: boolean;
  /** Whether the time is shown: true for the last message of a group by one side. */
  readonly isTimeShown: boolean;
  /** The sender. Screen readers say it before the text. */
  readonly author: string;
  /** Whether the author is shown: true for the last message of a group by one sender of the team. */
  readonly isAuthorShown: boolean;
  readonly actions: BubbleActions;
}

const pictographs = /^(?:\p{Extended_Pictographic}|\p{Emoji_Component}|\s)+$/u;

/** A message of a few emoji is large and has no bubble. */
const isEmojiOnly = (text: string) =>
  text.length <= 24 && /\p{Extended_Pictographic}/u.test(text) && pictographs.test(text);

/** The character that stands for a picture or another file in a text of Messages. */
const placeOfFile = '\ufffc';

/** Whether a received message had a file that did not reach the server: its place is there, or nothing else is. */
const hasLostFile = ({ direction, content, media_url }: ConversationMessage) =>
  direction === 'inbound' && media_url === null && (content.trim() === '' || content.includes(placeOfFile));

/** The bubble of a message: ours at the right, theirs at the left, the status below. Memoized, as threads are long. */
export const Bubble = memo(function Bubble(props: BubbleProps): ReactNode {
  const { message } = props;
  const text = message.content.replaceAll(placeOfFile, '');
  const isOurs = message.direction === 'outbound';
  const colours = !isOurs
    ? 'rounded-bl-md bg-bubble'
    : message.status === 'failed'
      ? 'rounded-br-md bg-bad-tint text-bad-ink'
      : 'rounded-br-md bg-accent text-on-accent';
  return (
    <div
      className={classNames('flex max-w-[85%] flex-col gap-1 md:max-w-[72%]', isOurs && 'ml-auto items-end')}
    >
      <span className="sr-only">{texts.bubble.from({ author: props.author })}</span>
      <Attachment message={message} />
      {props.file && <SentFile file={props.file} />}
      {text.trim() !== '' && (
        <p
          dir="auto"
          title={exactTime(message.created_at)}
          className={
            isEmojiOnly(text)
              ? 'text-[2.5rem] leading-tight'
              : `w-fit max-w-full rounded-[1.15rem] px-3.5 py-2 leading-snug whitespace-pre-wrap [overflow-wrap:anywhere] ${colours}`
          }
        >
          <LinkedText text={text} />
        </p>
      )}
      {hasLostFile(message) && (
        <p className="px-1 text-xs text-warn-ink">
          <ImageOff aria-hidden="true" className="mr-1 inline size-3 align-[-1.5px]" />
          {texts.bubble.lostFile}
        </p>
      )}
      {message.group && (
        <p className="px-1 text-xs text-quiet">
          <UsersRound aria-hidden="true" className="mr-1 inline size-3 align-[-1.5px]" />
          {texts.bubble.inGroup}
        </p>
      )}
      {message.possible_repeat && (
        <p className="px-1 text-xs text-quiet" title={possibleRepeatText}>
          <Repeat2 aria-hidden="true" className="mr-1 inline size-3 align-[-1.5px]" />
          {texts.bubble.mayBeRepeat}
        </p>
      )}
      <State {...props} />
    </div>
  );
});

function State(props: BubbleProps): ReactNode {
  const { message, waiting, sending, isStatusShown, isTimeShown, author, isAuthorShown, actions } = props;
  const { status, direction, created_at } = message;
  if (direction === 'inbound') {
    return <p className={isTimeShown ? 'px-1 text-xs text-quiet' : 'sr-only'}>{timeOfDay(created_at)}</p>;
  }
  const style = 'px-1 text-right text-xs text-quiet';
  const by = isAuthorShown ? `${author} · ` : '';
  if (sending !== undefined) {
    return (
      <p className={style}>
        {by}
        {sending === 'unanswered' ? texts.bubble.unanswered : texts.bubble.sending}
      </p>
    );
  }
  if (status === 'failed') {
    return (
      <p className="px-1 text-right text-xs text-bad-ink">
        {by}
        {!message.may_have_been_sent && message.error_code !== 'not_delivered' && `${texts.bubble.notSent} `}
        {message.error_message}
        {!message.may_have_been_sent && (
          <BubbleButton text={texts.bubble.sendAgain} act={actions.send} message={message} />
        )}
        <BubbleButton text={texts.bubble.edit} act={actions.edit} message={message} />
      </p>
    );
  }
  if (status === 'queued') {
    return (
      <p className={style}>
        <Clock aria-hidden="true" className="mr-1 inline size-3 align-[-1.5px]" />
        {by}
        {texts.bubble.waiting({ reason: reasonOf(message, waiting) })}
        <BubbleButton text={texts.bubble.cancel} act={actions.cancel} message={message} />
      </p>
    );
  }
  if (!isStatusShown && status !== 'polling') {
    const parts = [isAuthorShown && author, isTimeShown && timeOfDay(created_at)].filter(Boolean);
    return parts.length > 0 && <p className={style}>{parts.join(' · ')}</p>;
  }
  const at = message.delivered_at ?? message.sent_at ?? created_at;
  return (
    <p className={style}>
      {by}
      {statusTexts[status]} {timeOfDay(at)}
    </p>
  );
}

function BubbleButton({
  text,
  act,
  message,
}: {
  readonly text: string;
  readonly act: BubbleActions[keyof BubbleActions];
  readonly message: ConversationMessage;
}): ReactNode {
  if (act === undefined) return null;
  return (
    <button
      type="button"
      onClick={() => act(message)}
      className="ml-2 font-medium whitespace-nowrap underline underline-offset-2 max-sm:py-2"
    >
      {text}
    </button>
  );
}

function reasonOf({ id }: ConversationMessage, waiting: Waiting): string {
  if (!waiting?.reason) return texts.bubble.goesOut;
  if (waiting.message_id !== id) return waitingTexts.earlier_message;
  return waitingSentence(waiting.reason, waiting.expected_at);
}

/** A stranger's text with its URLs as links. The links send no referrer. */
function LinkedText({ text }: { readonly text: string }): ReactNode {
  return splitLinks(text).map(({ text: part, href }, index) =>
    href === undefined ? (
      part
    ) : (
      <a
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never move
        key={index}
        href={href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        className="underline underline-offset-2 [overflow-wrap:anywhere]"
      >
        {part}
      </a>
    ),
  );
}
