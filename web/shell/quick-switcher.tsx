import { Link, useParams } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { useList } from '#web/api/lists.ts';
import { conversationsQuery } from '#web/conversations/conversation-queries.ts';
import { ConversationRow } from '#web/conversations/conversation-row.tsx';
import { isSearched } from '#web/conversations/conversation-search.tsx';
import { SearchResults } from '#web/conversations/search-results.tsx';
import { Dialog, type DialogState } from '#web/kit/dialog.tsx';
import { inputStyle } from '#web/kit/input-style.ts';
import { useDebounced } from '#web/kit/use-debounced.ts';
import { allowed, mainNavigation, moreNavigation } from './navigation.ts';
import { useTeam } from './session.ts';
import { texts } from './texts.ts';

const { switcher } = texts;

/** Conversations that are listed before a person has typed enough to search. */
const latestMax = 6;

/** Opens a page or a conversation by a few letters. The arrow keys go through what fits, Enter opens it. */
export function QuickSwitcher({ isOpen, onClose }: DialogState): ReactNode {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={switcher.title}>
      <Content onClose={onClose} />
    </Dialog>
  );
}

function Content({ onClose }: Pick<DialogState, 'onClose'>): ReactNode {
  const team = useTeam();
  const params = useParams({ from: '/teams/$teamId' });
  const [typed, setTyped] = useState('');
  const q = useDebounced(typed.trim());
  const pages = allowed(team, [...mainNavigation, ...moreNavigation]).filter(({ text }) =>
    text.toLowerCase().includes(typed.trim().toLowerCase()),
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the field and the links in it have the focus
    <div
      className="-mx-5 -mb-4 flex flex-col"
      onKeyDown={moveFocus}
      onClick={({ target }) => (target as Element).closest('a') && onClose()}
    >
      <div className="px-5 pb-3">
        <input
          aria-label={switcher.search}
          placeholder={switcher.search}
          className={inputStyle}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field
          autoFocus
        />
      </div>
      <ul className="border-t border-line py-1.5 empty:hidden">
        {pages.map((page) => (
          <li key={page.to}>
            <Link
              to={page.to}
              params={params}
              className="flex items-center gap-3 px-5 py-1.5 outline-offset-[-2px] hover:bg-sunken focus:bg-sunken max-sm:py-2.5"
            >
              <page.icon aria-hidden="true" className="size-4 text-quiet" />
              {page.text}
            </Link>
          </li>
        ))}
      </ul>
      {team.can('messages:read') &&
        (isSearched(q) ? <SearchResults q={q} open={undefined} isNumberShown /> : <Latest typed={typed} />)}
    </div>
  );
}

/** The latest conversations that fit the first letters or digits of a person. */
function Latest({ typed }: { readonly typed: string }): ReactNode {
  const text = typed.trim().toLowerCase();
  const { rows } = useList(conversationsQuery(useTeam().id, {}));
  const fitting = rows
    .filter(({ name, contact }) => `${name ?? ''} ${contact}`.toLowerCase().includes(text))
    .slice(0, latestMax);
  return (
    <ul aria-label={switcher.conversations} className="border-t border-line empty:hidden">
      {fitting.map((conversation) => (
        <ConversationRow key={conversation.id} conversation={conversation} isOpen={false} isNumberShown />
      ))}
    </ul>
  );
}

/** ↑ and ↓ move the focus between the field and the links, and Enter in the field opens the first link. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const { key, currentTarget, target } = event;
  const stops = [...currentTarget.querySelectorAll<HTMLElement>('input, li > a')];
  const at = stops.indexOf(target as HTMLElement);
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
  if (step !== 0) stops[at + step]?.focus();
  else if (key === 'Enter' && at === 0) stops[1]?.click();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
