import { checkInteger, isPropertyArray, type PropertyList } from './property-list.ts';

/**
 * Writes an XML property list. The same value gives the same bytes.
 * @throws RangeError if a text contains a character that XML 1.0 does not allow
 */
export function writeXmlPropertyList(value: PropertyList): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${writeValue(value, '')}
</plist>
`;
}

function writeValue(value: PropertyList, indent: string): string {
  if (typeof value === 'string') return `${indent}<string>${escapeXml(value)}</string>`;
  if (typeof value === 'number') return `${indent}<integer>${checkInteger(value)}</integer>`;
  if (typeof value === 'boolean') return `${indent}<${value}/>`;
  if (value instanceof Date) return `${indent}<date>${value.toISOString().slice(0, 19)}Z</date>`;
  const inside = `${indent}\t`;
  if (isPropertyArray(value)) {
    if (value.length === 0) return `${indent}<array/>`;
    return `${indent}<array>\n${value.map((item) => writeValue(item, inside)).join('\n')}\n${indent}</array>`;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return `${indent}<dict/>`;
  const lines = entries.map(
    ([key, item]) => `${inside}<key>${escapeXml(key)}</key>\n${writeValue(item, inside)}`,
  );
  return `${indent}<dict>\n${lines.join('\n')}\n${indent}</dict>`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no form for these.
const notXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;

function escapeXml(text: string): string {
  const found = notXml.exec(text)?.[0];
  if (found !== undefined) {
    throw new RangeError(`XML cannot hold U+${(found.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
  }
  // Carriage returns are escaped, because XML parsers read an unescaped one as a line feed.
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;');
}
