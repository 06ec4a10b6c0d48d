/** HTML whose texts are escaped. Only `html` and `rawHtml` create it. */
export class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

/** A text is escaped, HTML stays unchanged, a list is joined, and undefined or false becomes nothing. */
export type HtmlValue = string | number | Html | readonly HtmlValue[] | undefined | false;

/** Template tag for HTML that escapes its values, for use between tags and in double-quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(
    parts.map((part, index) => part + (index < values.length ? markupOf(values[index]) : '')).join(''),
  );
}

/** Markup of this project, such as a drawing; never a value from outside. */
export function rawHtml(markup: string): Html {
  return new Html(markup);
}

function markupOf(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(markupOf).join('');
  return escapeHtml(String(value));
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
