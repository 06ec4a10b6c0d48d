import { useParams } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { classNames } from '#web/kit/class-names.ts';
import { EmptyState } from '#web/kit/page.tsx';
import { ConversationList } from './conversation-list.tsx';
import type { ConversationKey } from './conversation-queries.ts';
import { Thread } from './thread.tsx';
import { useConversationKeys } from './use-conversation-keys.ts';

/** The list of conversations beside one thread. On a phone one of the two is shown. */
export function ConversationsPage(): ReactNode {
  const open = useOpenConversation();
  const list = useRef<HTMLElement>(null);
  useConversationKeys(list);
  const title = open ? formatPhoneNumber(open.contact) : 'Conversations';
  useEffect(() => {
    document.title = `${title} · Ownline`;
  }, [title]);
  return (
    // No height of its own: it takes the room that the header, banners and the tab bar leave.
    <div className="flex h-0 min-h-0 grow">
      <section
        ref={list}
        aria-label="Conversations"
        className={classNames(
          'flex w-full shrink-0 flex-col border-line bg-surface md:w-80 md:border-r lg:w-[22rem]',
          open && 'max-md:hidden',
        )}
      >
        <ConversationList open={open} />
      </section>
      <section
        aria-label={open ? `Conversation with ${title}` : 'No conversation is open'}
        className={classNames('flex min-w-0 flex-1 flex-col', !open && 'max-md:hidden')}
      >
        {open ? (
          <Thread key={`${open.phoneNumber} ${open.contact}`} open={open} />
        ) : (
          <div className="m-auto">
            <EmptyState icon={<MessagesSquare />} title="Choose a conversation">
              The arrow keys go through the list, and Enter opens one. Alt with an arrow key opens the one
              above or below, Esc leads back.
            </EmptyState>
          </div>
        )}
      </section>
    </div>
  );
}

function useOpenConversation(): ConversationKey | undefined {
  const { phoneNumber, contact } = useParams({ strict: false }) as Partial<ConversationKey>;
  return phoneNumber !== undefined && contact !== undefined ? { phoneNumber, contact } : undefined;
}
