import { encode } from 'uqr';
import { type Html, rawHtml } from '#server/platform/http/html.ts';

/** Width of the light border in modules; scanners need four. */
const quietModules = 4;

/** A QR code as an SVG, dark on light in both themes: many scanners can't read inverted ones. */
export function renderQrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: 0 });
  const path = data
    .flatMap((row, y) =>
      row.map((isDark, x) => (isDark ? `M${x + quietModules} ${y + quietModules}h1v1h-1z` : '')),
    )
    .join('');
  const side = size + 2 * quietModules;
  if (/[<>&"]/.test(label)) throw new Error('the label of a QR code must not contain < > & or "');
  return rawHtml(
    `<svg class="qr" viewBox="0 0 ${side} ${side}" role="img" aria-label="${label}" shape-rendering="crispEdges">` +
      `<rect width="${side}" height="${side}" fill="#fff"/><path fill="#000" d="${path}"/></svg>`,
  );
}
