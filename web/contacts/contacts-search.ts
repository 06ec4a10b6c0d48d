import { type TypedSearch, textOf } from '#web/api/search-parameters.ts';

/** Search parameters of the page: the beginnings of names or last digits that contacts are found by. */
export const readContactsSearch = ({ q }: TypedSearch): { readonly q?: string | undefined } => ({
  q: textOf(q),
});
