import { useEffect } from 'react';

let pageTitle = '';
let count = '';

/** Sets the title of the page, as the browser's tab shows it. */
export function useTitle(title: string): void {
  useEffect(() => {
    pageTitle = title;
    show();
  }, [title]);
}

/** Puts a count in front of the title of each page; '' for none. */
export function setTitleCount(text: string): void {
  count = text;
  show();
}

function show(): void {
  document.title = `${count === '' ? '' : `(${count}) `}${pageTitle === '' ? '' : `${pageTitle} · `}Ownline`;
}
