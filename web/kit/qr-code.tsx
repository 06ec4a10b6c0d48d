import { type ReactNode, useMemo } from 'react';
import { encode } from 'uqr';

/** The margin around the code in modules; scanners need four. */
const quietModules = 4;

/** A QR code, dark on light in both themes, because many scanners cannot read inverted codes. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const { path, side } = useMemo(() => draw(text), [text]);
  return (
    <svg
      viewBox={`0 0 ${side} ${side}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
      className="block size-52 shrink-0 rounded-xl border border-line bg-white"
    >
      <path fill="#000" d={path} />
    </svg>
  );
}

function draw(text: string): { readonly path: string; readonly side: number } {
  const { data, size } = encode(text, { ecc: 'M', border: 0 });
  const modules = data.flatMap((row, y) =>
    row.map((isDark, x) => (isDark ? `M${x + quietModules} ${y + quietModules}h1v1h-1z` : '')),
  );
  return { path: modules.join(''), side: size + 2 * quietModules };
}
