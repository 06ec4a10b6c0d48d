import { useIsFetching } from '@tanstack/react-query';
import type { KeyboardEvent, ReactNode } from 'react';
import type { searchMinCharacters } from '#contract/search.ts';
import { SearchField } from '#web/kit/search-field.tsx';
import { useTeam } from '#web/shell/session.ts';
import { texts as conversationTexts } from './texts.ts';

const { search: texts } = conversationTexts;

/** The API refuses a text with fewer characters. */
const charactersMin: typeof searchMinCharacters = 3;

export const isSearched = (q: string): boolean => [...q].length >= charactersMin;

/** The key of all searches of a team. */
export const searchKey = (teamId: string) => [teamId, 'search'];

/** The rows of the list beside an element. */
export const linksNear = (element: Element) =>
  element.closest('section')?.querySelectorAll<HTMLElement>('li > a') ?? [];

/** The search field above the list. ↓ moves the focus into the list, and Enter opens the first result. */
export function ConversationSearch({
  value,
  onSearch,
}: {
  readonly value: string;
  readonly onSearch: (text: string) => void;
}): ReactNode {
  const isBusy = useIsFetching({ queryKey: searchKey(useTeam().id) }) > 0;
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key, currentTarget } = event;
    const [first] = linksNear(currentTarget);
    if (key === 'ArrowDown') first?.focus();
    else if (key !== 'Enter' || isBusy || !isSearched(value) || currentTarget.value.trim() !== value) return;
    else first?.click();
    event.preventDefault();
  };
  return (
    <>
      <SearchField
        label={texts.label}
        value={value}
        onSearch={onSearch}
        isBusy={isBusy}
        onKeyDown={onKeyDown}
      />
      {value !== '' && !isSearched(value) && (
        <p role="status" className="text-xs text-quiet">
          {texts.tooShort({ count: charactersMin })}
        </p>
      )}
    </>
  );
}
