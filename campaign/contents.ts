/** Texts that careless code breaks: quotes, line separators, right-to-left marks, emoji of several code points. */
const awkward = [
  'Your table is ready.',
  'She said "yes" \\ and \'no\'',
  'one\u2028two\u2029three\r\nfour\tfive',
  '\u202eright to left\u202c שלום مرحبا',
  '👩‍👩‍👧‍👦 🏳️‍🌈 🇨🇭 é e\u0301',
  '<script>&amp;</script> %00 {{y}}',
  'a'.repeat(1_500),
];

export function contentOf(name: string, count: number): string {
  return `${name} ${awkward[count % awkward.length]}`;
}
