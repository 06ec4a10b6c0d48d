import { type Html, html } from '#server/platform/http/html.ts';
import { excludedBy, tickField } from './hand-ticks.ts';
import type { SetupProgress } from './setup-progress.ts';

/** The form that closes the link. It contains the ticks, so that they are sent even without script. */
export const endFormId = 'end-form';

/** A line of a list that opens to its own steps; one line is open at a time. */
export interface Line {
  /** Unique on the page. */
  readonly name: string;
  readonly title: Html | string;
  /** The title as plain text. */
  readonly label: string;
  /** The sign before the title: a square to tick, or a circle that the server fills. */
  readonly sign: Html;
  readonly content: Html;
  /** True if nothing is left to do in this line. */
  readonly isDone: boolean;
}

/**
 * Renders a list of lines; the first one that is not done is open.
 * @param group only one line of a group is open at a time
 * @param goOn a link after the last line
 * @param isOpened false opens no line at first
 */
export function lineList(group: string, lines: readonly Line[], goOn?: Html, isOpened = true): Html {
  const opened = isOpened && lines.find(({ isDone }) => !isDone);
  return html`<ul class="lines">${lines.map((line, index) => {
    const { name, title, sign, content } = line;
    const next = lines[index + 1];
    return html`<li>${sign}<details name="${group}"${line === opened && html` open`}><summary>${title}</summary>
<div id="line-${name}">${content}${next ? nextLink(`line-${next.name}`, next.label) : goOn}</div></details></li>`;
  })}</ul>`;
}

export const isMade = ({ ticked }: SetupProgress, name: string) => ticked.includes(name);

/** A square to tick. @param label its meaning for screen readers */
export function tickBox(progress: SetupProgress, name: string, label: string): Html {
  return html`<span class="tick">${renderSquare(progress, name)}<label class="sr" for="${tickField(name)}">${label}</label></span>`;
}

/** A square to tick, with its text beside it. */
export function tickRow(progress: SetupProgress, name: string, label: string): Html {
  return html`<p class="tick-row tick">${renderSquare(progress, name)}<label for="${tickField(name)}">${label}</label></p>`;
}

/** Renders the square alone. It is updated when another page of the link changes the tick. */
export function renderSquare(progress: SetupProgress, name: string): Html {
  const id = tickField(name);
  const excluded = excludedBy(name);
  return html`<input type="checkbox" id="${id}" name="${id}" value="yes" form="${endFormId}" data-live${isMade(progress, name) && html` checked`}${excluded.length > 0 && html` data-excludes="${excluded.map(tickField).join(' ')}"`}>`;
}

/** A button that stores the ticks without script. @param path of the page */
export function renderKeepTicks(path: string): Html {
  return html`<noscript><button class="second" form="${endFormId}" formaction="${path}/ticks">Keep my ticks</button></noscript>`;
}

/** A link that opens the element with an id on this page. */
export function nextLink(id: string, label: string): Html {
  return html`<p class="next"><a class="button second" href="#${id}">Next: ${label}</a></p>`;
}
