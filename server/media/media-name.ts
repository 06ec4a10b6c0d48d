import { mediaNameMaxCharacters } from './limits.ts';

/**
 * Derives the name of a file (specification section 2.8): the sender's name in characters that need no escape in a
 * path, with its type's extension.
 * @param wanted a name or the path of a URL; undefined or unusable becomes `media`
 */
export function mediaName(wanted: string | undefined, extension: string): string {
  const last = decodePercent((wanted ?? '').split(/[/\\]/).at(-1) ?? '');
  const stem = last
    .replace(/\.[A-Za-z0-9]{1,5}$/, '')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .slice(0, mediaNameMaxCharacters)
    .replaceAll(/^-+|-+$/g, '');
  return `${stem || 'media'}.${extension}`;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
