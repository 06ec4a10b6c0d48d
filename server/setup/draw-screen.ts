import { type Html, html, rawHtml } from '#server/platform/http/html.ts';

/** A row of a drawn screen. `tap` marks what to tap, with its number in the order of the taps, from 1. */
export type ScreenRow =
  | { readonly kind: 'text'; readonly text: string }
  /** A line of a list, with a value or an arrow at its end. */
  | { readonly kind: 'row'; readonly text: string; readonly value?: string; readonly tap?: number }
  | { readonly kind: 'field'; readonly text: string; readonly tap?: number }
  | { readonly kind: 'choice'; readonly text: string; readonly isOn: boolean; readonly tap?: number }
  | { readonly kind: 'switch'; readonly text: string; readonly isOn: boolean; readonly tap?: number }
  | { readonly kind: 'button'; readonly text: string; readonly tap?: number }
  /** A shortcut's tile, with three dots or a sign that the shortcut runs. */
  | { readonly kind: 'tile'; readonly text: string; readonly isRunning?: boolean; readonly tap?: number }
  /** A letter or a downward arrow in a circle. */
  | { readonly kind: 'sign'; readonly text: 'i' | '↓'; readonly beside?: string; readonly tap?: number };

/** A schematic drawing of a screen of the iPhone. */
export interface Screen {
  /** The text alternative of the drawing, for screen readers. */
  readonly label: string;
  readonly title?: string | undefined;
  readonly left?: string;
  readonly right?: string;
  readonly tapRight?: number;
  readonly rows: readonly ScreenRow[];
  readonly tabs?: { readonly names: readonly string[]; readonly at: number; readonly tap: number };
}

const width = 300;
const margin = 12;
const rowHeight = 38;
const barHeight = 40;
const badgeRadius = 10;

/** Draws a screen as an SVG. The page's style sets its colours, for both themes. */
export function drawScreen(screen: Screen): Html {
  const hasBar = screen.title !== undefined || screen.right !== undefined;
  const top = hasBar ? barHeight : margin;
  const tapCount =
    screen.rows.filter((row) => 'tap' in row && row.tap !== undefined).length +
    (screen.tapRight === undefined ? 0 : 1) +
    (screen.tabs ? 1 : 0);
  const isNumbered = tapCount > 1;
  const rows = screen.rows.map((row, index) => drawRow(row, top + index * rowHeight, isNumbered));
  const bottom = top + screen.rows.length * rowHeight + margin;
  const height = bottom + (screen.tabs ? barHeight : 0);
  return rawHtml(
    `<svg class="screen" viewBox="0 0 ${width} ${height}" role="img" aria-label="${html`${screen.label}`}">` +
      `<rect class="ground" x="1" y="1" width="${width - 2}" height="${height - 2}" rx="18"/>` +
      (hasBar ? drawBar(screen, isNumbered) : '') +
      rows.join('') +
      (screen.tabs ? drawTabs(screen.tabs, bottom, isNumbered) : '') +
      '</svg>',
  );
}

function drawBar({ title = '', left = '', right = '', tapRight }: Screen, isNumbered: boolean): string {
  const ringWidth = Math.max(28, right.length * 8 + 14);
  const x = width - margin + 4 - ringWidth;
  return (
    words(left, margin + 4, 26, 'blue') +
    words(title, width / 2, 26, 'strong', 'middle') +
    words(right, x + ringWidth / 2, 26, 'blue', 'middle') +
    (tapRight === undefined
      ? ''
      : ring(x, 7, ringWidth, 28) + badge(x - badgeRadius - 3, 21, tapRight, isNumbered))
  );
}

function drawRow(row: ScreenRow, y: number, isNumbered: boolean): string {
  const middle = y + rowHeight / 2;
  const baseline = middle + 4.5;
  const x = margin + 10;
  const end = width - margin - 10;
  const box = [margin, y + 2, width - 2 * margin, rowHeight - 4] as const;
  const card = `<rect class="card" x="${box[0]}" y="${box[1]}" width="${box[2]}" height="${box[3]}" rx="9"/>`;
  // Draws a ring around the element to tap, and the tap's number at its right end, in front of its text.
  const marked = (at: number, around: readonly [number, number, number, number] = box) =>
    'tap' in row && row.tap !== undefined ? ring(...around) + badge(at, middle, row.tap, isNumbered) : '';
  switch (row.kind) {
    case 'text':
      return words(row.text, x, baseline, 'dim');
    case 'row':
      return (
        card +
        words(row.text, x, baseline) +
        (row.value === undefined
          ? `<path class="chevron" d="M${end - 5} ${middle - 5}l5 5l-5 5"/>`
          : words(row.value, end, baseline, 'blue', 'end')) +
        marked(end - 20 - (row.value?.length ?? 0) * 8)
      );
    case 'field':
      return card + words(row.text, x, baseline, 'dim') + marked(end - 10);
    case 'choice':
      return (
        card +
        words(row.text, x, baseline) +
        (row.isOn ? `<path class="tick" d="M${end - 13} ${middle}l4.5 5l8 -10"/>` : '') +
        marked(end - 32)
      );
    case 'switch':
      return (
        card +
        words(row.text, x, baseline) +
        `<rect class="${row.isOn ? 'on' : 'off'}" x="${end - 36}" y="${middle - 10}" width="36" height="20" rx="10"/>` +
        `<circle class="knob" cx="${row.isOn ? end - 10 : end - 26}" cy="${middle}" r="8"/>` +
        marked(end - 54, [end - 41, middle - 15, 46, 30])
      );
    case 'button':
      return card + words(row.text, width / 2, baseline, 'blue', 'middle') + marked(end - 10);
    case 'tile':
      return (
        card +
        words(row.text, x, baseline, 'strong') +
        (row.isRunning
          ? `<circle class="chevron" cx="${end - 8}" cy="${middle}" r="9"/><rect class="stop" x="${end - 11.5}" y="${middle - 3.5}" width="7" height="7" rx="1"/>`
          : `<circle class="dots" cx="${end - 8}" cy="${middle}" r="10"/>${[-5, 0, 5].map((dx) => `<circle class="dot" cx="${end - 8 + dx}" cy="${middle}" r="1.6"/>`).join('')}`) +
        marked(end - 32, [end - 22, middle - 14, 28, 28])
      );
    case 'sign':
      return (
        words(row.beside ?? '', x, baseline, 'dim') +
        `<circle class="chevron" cx="${end - 8}" cy="${middle}" r="10"/>` +
        (row.text === '↓'
          ? `<path class="arrow" d="M${end - 8} ${middle - 6}v11m-4.5 -4.5l4.5 4.5l4.5 -4.5"/>`
          : words(row.text, end - 8, baseline, 'blue', 'middle')) +
        marked(end - 32, [end - 22, middle - 14, 28, 28])
      );
  }
}

function drawTabs({ names, at, tap }: NonNullable<Screen['tabs']>, y: number, isNumbered: boolean): string {
  const step = width / names.length;
  return (
    `<path class="line" d="M0 ${y}h${width}"/>` +
    names
      .map((name, index) => {
        const x = step * (index + 0.5);
        return (
          words(name, x, y + 25, index === at ? 'blue' : 'dim', 'middle') +
          (index === at ? ring(step * index + 4, y + 6, step - 8, 28) + badge(x, y - 1, tap, isNumbered) : '')
        );
      })
      .join('')
  );
}

function words(text: string, x: number, y: number, style = '', anchor = 'start'): string {
  return text === ''
    ? ''
    : `<text class="${style}" x="${x}" y="${y}" text-anchor="${anchor}">${html`${text}`}</text>`;
}

function ring(x: number, y: number, ringWidth: number, height: number): string {
  return `<rect class="ring" x="${x}" y="${y}" width="${ringWidth}" height="${height}" rx="9"/>`;
}

/** The number of a tap; none on a screen with a single tap, where the ring is enough. */
function badge(x: number, y: number, tap: number, isNumbered: boolean): string {
  return isNumbered
    ? `<circle class="tap" cx="${x}" cy="${y}" r="${badgeRadius}"/>${words(String(tap), x, y + 4.5, 'tap-number', 'middle')}`
    : '';
}

/** A sign for the Shortcuts app: two overlapping squares, drawn for Ownline. */
export const appSign = rawHtml(
  '<svg class="app-sign" viewBox="0 0 48 48" role="img" aria-label="The icon of Shortcuts: two squares, one over the other">' +
    '<rect class="app-ground" x="1" y="1" width="46" height="46" rx="11"/>' +
    '<rect class="app-back" x="9" y="15" width="20" height="20" rx="5" transform="rotate(45 19 25)"/>' +
    '<rect class="app-front" x="19" y="13" width="20" height="20" rx="5" transform="rotate(45 29 23)"/></svg>',
);
