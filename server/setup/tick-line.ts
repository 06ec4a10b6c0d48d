import { type Html, html } from '#server/platform/http/html.ts';
import { excludedBy, tickField } from './hand-ticks.ts';
import type { SetupProgress } from './setup-progress.ts';

/** The form that closes the link. It has the ticks, so that they are known without script, too. */
export const endFormId = 'end-form';

/** A line of a list that opens to its own steps, one line of the list at a time. */
export interface Line {
  /** Unique on the page. */
  readonly name: string;
  readonly title: Html | string;
  /** The title in words. */
  readonly label: string;
  /** In front of the title: a square to tick, or a circle that the server turns green. */
  readonly sign: Html;
  readonly content: Html;
  /** Whether nothing is left to do in it. */
  readonly isDone: boolean;
}

/**
 * A list of lines. The first one that is not done is open.
 * @param group lines of one group open one at a time
 * @param goOn link behind the last line
 * @param isOpened whether a line of the list is open at first
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

/** A square to tick. @param label in words, for people who do not see the line */
export function tickBox(progress: SetupProgress, name: string, label: string): Html {
  return html`<span class="tick">${renderSquare(progress, name)}<label class="sr" for="${tickField(name)}">${label}</label></span>`;
}

/** A square with its words beside it. */
export function tickRow(progress: SetupProgress, name: string, label: string): Html {
  return html`<p class="tick-row tick">${renderSquare(progress, name)}<label for="${tickField(name)}">${label}</label></p>`;
}

/** The square alone, which follows the ticks of other pages of the link. */
export function renderSquare(progress: SetupProgress, name: string): Html {
  const id = tickField(name);
  const excluded = excludedBy(name);
  return html`<input type="checkbox" id="${id}" name="${id}" value="yes" form="${endFormId}" data-live${isMade(progress, name) && html` checked`}${excluded.length > 0 && html` data-excludes="${excluded.map(tickField).join(' ')}"`}>`;
}

/** Without script a button keeps the ticks. @param path of the page */
export function renderKeepTicks(path: string): Html {
  return html`<noscript><button class="second" form="${endFormId}" formaction="${path}/ticks">Keep my ticks</button></noscript>`;
}

/** A link that opens what is at an id of this page. */
export function nextLink(id: string, label: string): Html {
  return html`<p class="next"><a class="button second" href="#${id}">Next: ${label}</a></p>`;
}
