import { type Html, html } from '#server/platform/http/html.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { tickField } from './hand-ticks.ts';
import type { Setup } from './read-setup.ts';

/** The form that closes the link: it has the ticks, so that the last page names what is missing. */
export const endFormId = 'end-form';

/** A line of a list that opens to its own steps, one line of the list at a time. */
export interface TickLine {
  /** Unique on the page. */
  readonly name: string;
  readonly title: Html | string;
  /** The title in words. */
  readonly label: string;
  readonly content: Html;
  /** Whether the server has seen that it works. */
  readonly isTested?: boolean;
}

/**
 * Lines that a person ticks off; the browser keeps the ticks for the number. The first line that was not tested is open.
 * @param group lines of one group open one at a time
 * @param goOn link behind the last line
 * @param isOpened whether a line of the list is open at first
 */
export function tickLines(
  { number }: Setup,
  group: string,
  lines: readonly TickLine[],
  goOn?: Html,
  isOpened = true,
): Html {
  const opened = isOpened && lines.find(({ isTested }) => !isTested);
  return html`<ul class="lines">${lines.map((line, index) => {
    const { name, title, label, content, isTested } = line;
    const next = lines[index + 1];
    return html`<li>${tickBox(number.id, name, label, isTested)}<details name="${group}"${line === opened && html` open`}><summary>${title}</summary>
<div id="line-${name}">${content}${next ? nextLink(`line-${next.name}`, next.label) : goOn}</div></details></li>`;
  })}</ul>`;
}

function tickBox(numberId: Setup['number']['id'], name: string, label: string, isTested = false): Html {
  const id = tickField(name);
  return html`<span class="tick"><input type="checkbox" id="${id}" name="${id}" value="yes" form="${endFormId}" data-tick="${publicId('num', numberId)} ${name}"${isTested && html` checked`}><label class="sr" for="${id}">Made: ${label}</label></span>`;
}

/** A link that opens what is at an id of this page. */
export function nextLink(id: string, label: string): Html {
  return html`<p class="next"><a class="button second" href="#${id}">Next: ${label}</a></p>`;
}
