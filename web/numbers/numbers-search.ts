import { type TypedSearch, textOf } from '#web/api/search-parameters.ts';

/** Search parameters of the page of all numbers. */
export interface NumbersSearch {
  /** True opens the dialog. After a setup link was created, it is the link's number, so that a reload shows the progress. */
  readonly connect?: true | string;
}

export const readNumbersSearch = ({ connect }: TypedSearch): NumbersSearch => ({
  connect: connect === true || textOf(connect),
});

/** Search parameters of the page of a number. */
export interface NumberSearch {
  /** True opens the dialog for another iPhone, `started` the progress of its setup. */
  readonly setup?: true | 'started';
}

export const readNumberSearch = ({ setup }: TypedSearch): NumberSearch => ({
  setup: setup === true || setup === 'started' ? setup : undefined,
});
