import { useQuery } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { classNames } from '#web/kit/class-names.ts';
import { EmptyState } from '#web/kit/page.tsx';
import { useTitle } from '#web/kit/title.ts';
import { useLooking } from '#web/notifications/looking.ts';
import { useTeam } from '#web/shell/session.ts';
import { ConversationList } from './conversation-list.tsx';
import { type ConversationKey, threadQuery } from './conversation-queries.ts';
import { texts } from './texts.ts';

/** The list of conversations beside one thread. On a phone one of the two is shown. */
export function ConversationsPage(): ReactNode {
  const open = useParams({
    from: '/teams/$teamId/conversations/$phoneNumber/$contact',
    shouldThrow: false,
  });
  const list = useRef<HTMLElement>(null);
  useConversationKeys(list);
  const title = useContactName(open) ?? texts.title;
  useTitle(title);
  useLooking(useTeam().id, open);
  return (
    // No height of its own: it takes the room that the header, banners and the tab bar leave.
    <div className="flex h-0 min-h-0 grow print:h-auto">
      <section
        ref={list}
        aria-label={texts.title}
        className={classNames(
          'flex w-full shrink-0 flex-col border-line bg-surface print:hidden md:w-80 md:border-r lg:w-[22rem]',
          open && 'max-md:hidden',
        )}
      >
        <ConversationList open={open} />
      </section>
      <section
        aria-label={open ? texts.with({ contact: title }) : texts.noneOpen}
        className={classNames('flex min-w-0 flex-1 flex-col', !open && 'max-md:hidden')}
      >
        {open ? (
          <Outlet />
        ) : (
          <div className="m-auto">
            <EmptyState icon={<MessagesSquare />} title={texts.choose}>
              {texts.chooseHow}
            </EmptyState>
          </div>
        )}
      </section>
    </div>
  );
}

/** The name of the open conversation's contact, or the handle while no name is known. */
function useContactName(open: ConversationKey | undefined): string | undefined {
  const team = useTeam();
  const query = threadQuery(team.id, open ?? { phoneNumber: '', contact: '' });
  const { data } = useQuery({ ...query, enabled: false });
  return open && (data?.newest.name ?? formatPhoneNumber(open.contact));
}

/**
 * Keys of the page: ↑ and ↓ move the focus into and through the list, Alt+↑ and Alt+↓ open the neighbouring
 * conversation. Esc returns the focus from a thread to its row.
 */
function useConversationKeys(list: RefObject<HTMLElement | null>): void {
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
