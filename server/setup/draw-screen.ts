import { escapeHtml } from '#server/platform/escape-html.ts';
import { type Html, rawHtml } from '#server/platform/http/html.ts';

/** A row of a drawn screen. `tap` marks the thing to tap. */
export type ScreenRow =
  | { readonly kind: 'text'; readonly text: string }
  /** A line of a list, with a value or an arrow at its end. */
  | { readonly kind: 'row'; readonly text: string; readonly value?: string; readonly tap?: boolean }
  | { readonly kind: 'field'; readonly text: string; readonly tap?: boolean }
  | { readonly kind: 'choice'; readonly text: string; readonly isOn: boolean; readonly tap?: boolean }
  | { readonly kind: 'switch'; readonly text: string; readonly isOn: boolean; readonly tap?: boolean }
  | { readonly kind: 'button'; readonly text: string; readonly tap?: boolean };

/** A schematic drawing of a screen of the iPhone. */
export interface Screen {
  /** The text alternative of the drawing, for screen readers. */
  readonly label: string;
  readonly title?: string | undefined;
  readonly left?: string;
  readonly right?: string;
  readonly tapRight?: boolean;
  readonly rows: readonly ScreenRow[];
  readonly tabs?: { readonly names: readonly string[]; readonly tap: number };
}

const width = 300;
const margin = 12;
const rowHeight = 38;
const barHeight = 40;

/** The drawing as an SVG without colours of its own: the style of the page has them, for both themes. */
export function drawScreen(screen: Screen): Html {
  const hasBar = screen.title !== undefined || screen.right !== undefined;
  const top = hasBar ? barHeight : margin;
  const rows = screen.rows.map((row, index) => drawRow(row, top + index * rowHeight));
  const bottom = top + screen.rows.length * rowHeight + margin;
  const height = bottom + (screen.tabs ? barHeight : 0);
  return rawHtml(
    `<svg class="screen" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(screen.label)}">` +
      `<rect class="ground" x="1" y="1" width="${width - 2}" height="${height - 2}" rx="18"/>` +
      (hasBar ? drawBar(screen) : '') +
      rows.join('') +
      (screen.tabs ? drawTabs(screen.tabs.names, screen.tabs.tap, bottom) : '') +
      '</svg>',
  );
}

function drawBar({ title = '', left = '', right = '', tapRight }: Screen): string {
  return (
    words(left, margin + 4, 26, 'blue') +
    words(title, width / 2, 26, 'strong', 'middle') +
    words(right, width - margin - 4, 26, 'blue', 'end') +
    (tapRight ? tapMark(width - margin - 18 - right.length * 8, 21) : '')
  );
}

function drawRow(row: ScreenRow, y: number): string {
  const middle = y + rowHeight / 2;
  const baseline = middle + 4.5;
  const x = margin + 10;
  const end = width - margin - 10;
  const card = `<rect class="card" x="${margin}" y="${y + 2}" width="${width - 2 * margin}" height="${rowHeight - 4}" rx="9"/>`;
  const ring =
    'tap' in row && row.tap
      ? `<rect class="ring" x="${margin}" y="${y + 2}" width="${width - 2 * margin}" height="${rowHeight - 4}" rx="9"/>`
      : '';
  switch (row.kind) {
    case 'text':
      return words(row.text, x, baseline, 'dim');
    case 'row':
      return (
        card +
        ring +
        words(row.text, x, baseline) +
        (row.value === undefined
          ? `<path class="chevron" d="M${end - 5} ${middle - 5}l5 5l-5 5"/>`
          : words(row.value, end, baseline, 'blue', 'end')) +
        (row.tap ? tapMark(end - 24 - (row.value?.length ?? 0) * 8, middle) : '')
      );
    case 'field':
      return card + ring + words(row.text, x, baseline, 'dim') + (row.tap ? tapMark(end - 34, middle) : '');
    case 'choice':
      return (
        card +
        ring +
        words(row.text, x, baseline) +
        (row.isOn ? `<path class="tick" d="M${end - 13} ${middle}l4.5 5l8 -10"/>` : '') +
        (row.tap ? tapMark(end - 40, middle) : '')
      );
    case 'switch':
      return (
        card +
        ring +
        words(row.text, x, baseline) +
        `<rect class="${row.isOn ? 'on' : 'off'}" x="${end - 36}" y="${middle - 10}" width="36" height="20" rx="10"/>` +
        `<circle class="knob" cx="${row.isOn ? end - 10 : end - 26}" cy="${middle}" r="8"/>` +
        (row.tap ? tapMark(end - 52, middle) : '')
      );
    case 'button':
      return (
        card +
        ring +
        words(row.text, width / 2, baseline, 'blue', 'middle') +
        (row.tap ? tapMark(width - 62, middle) : '')
      );
  }
}

function drawTabs(names: readonly string[], tap: number, y: number): string {
  const step = width / names.length;
  return (
    `<path class="line" d="M0 ${y}h${width}"/>` +
    names
      .map((name, index) => {
        const x = step * (index + 0.5);
        return (
          words(name, x, y + 25, index === tap ? 'blue' : 'dim', 'middle') +
          (index === tap ? tapMark(x - 14 - name.length * 4.2, y + 20) : '')
        );
      })
      .join('')
  );
}

function words(text: string, x: number, y: number, style = '', anchor = 'start'): string {
  return text === ''
    ? ''
    : `<text class="${style}" x="${x}" y="${y}" text-anchor="${anchor}">${escapeHtml(text)}</text>`;
}

/** A finger tip. */
function tapMark(x: number, y: number): string {
  return `<circle class="tap" cx="${x}" cy="${y}" r="11"/>`;
}
