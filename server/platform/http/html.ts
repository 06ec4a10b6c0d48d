import { escapeHtml } from '#server/platform/escape-html.ts';

/** HTML whose texts are escaped already. Only `html` and `rawHtml` make it. */
export class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

/** A text is escaped, HTML is kept, a list is joined, and undefined or false is nothing. */
export type HtmlValue = string | number | Html | readonly HtmlValue[] | undefined | false;

/** Template of HTML that escapes what is put into it, between tags and in attributes in double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(
    parts.map((part, index) => part + (index < values.length ? markupOf(values[index]) : '')).join(''),
  );
}

/** Markup of our own, such as a drawing. Never for a value that comes from outside. */
export function rawHtml(markup: string): Html {
  return new Html(markup);
}

function markupOf(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(markupOf).join('');
  return escapeHtml(String(value));
}
