import { Search, X } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { IconButton, Spinner } from './button.tsx';
import { classNames } from './class-names.ts';
import { inputStyle } from './input-style.ts';
import { texts } from './texts.ts';
import { useDebounced } from './use-debounced.ts';

/** A field that searches while a person types. Escape empties it. */
export function SearchField({
  label,
  value,
  onSearch,
  isBusy = false,
  onKeyDown,
}: {
  /** Says what is searched. It is the placeholder, too. */
  readonly label: string;
  /** The text that is searched now. */
  readonly value: string;
  readonly onSearch: (text: string) => void;
  readonly isBusy?: boolean;
  readonly onKeyDown?: (event: KeyboardEvent<HTMLInputElement>) => void;
}): ReactNode {
  const [typed, setTyped] = useState(value);
  const settled = useDebounced(typed.trim());
  const searched = useRef(value);
  const search = (text: string) => {
    if (text === searched.current) return;
    searched.current = text;
    onSearch(text);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was typed begins a search
  useEffect(() => search(settled), [settled]);
  // The page changed the text, as by going back. The text that was searched last may be older than what is typed.
  useEffect(() => {
    if (value === searched.current) return;
    searched.current = value;
    setTyped(value);
  }, [value]);
  const clear = () => {
    setTyped('');
    search('');
  };
  return (
    <search className="relative block">
      <span className="pointer-events-none absolute top-1/2 left-3 -translate-y-1/2 text-quiet">
        {isBusy ? <Spinner /> : <Search aria-hidden="true" className="size-4" />}
      </span>
      <input
        type="text"
        enterKeyHint="search"
        aria-label={label}
        placeholder={label}
        maxLength={100}
        className={classNames(inputStyle, 'pr-9 pl-9')}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') search(typed.trim());
          if (event.key === 'Escape' && typed !== '') {
            event.preventDefault();
            clear();
          }
          onKeyDown?.(event);
        }}
      />
      {typed !== '' && (
        <IconButton
          label={texts.clear}
          size="small"
          className="absolute top-1/2 right-1 h-7 -translate-y-1/2 px-1.5 max-sm:h-9"
          onClick={clear}
        >
          <X />
        </IconButton>
      )}
    </search>
  );
}
