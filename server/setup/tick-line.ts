import { type Html, html } from '#server/platform/http/html.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { Setup } from './read-setup.ts';

/**
 * A line that a person ticks off; the browser keeps the tick for the number.
 * @param name of the tick, unique on the page
 * @param after end of the line, behind the label
 */
export function tickLine({ number }: Setup, name: string, label: Html | string, after?: Html): Html {
  return html`<li><div class="make"><input type="checkbox" id="made-${name}" data-tick="${publicId('num', number.id)} ${name}"><label for="made-${name}">${label}</label>${after}</div></li>`;
}
