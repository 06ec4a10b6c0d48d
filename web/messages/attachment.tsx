import { Paperclip } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Message } from '#contract/message.ts';
import { basePath } from '#web/api/base-path.ts';
import { texts } from './texts.ts';

/** Shows a received picture. Other received files, and sent files, which are on another host, are links. */
export function Attachment({
  message: { media_url, direction },
}: {
  readonly message: Pick<Message, 'media_url' | 'direction'>;
}): ReactNode {
  const [isBroken, setIsBroken] = useState(false);
  if (media_url === null) return null;
  const stored = direction === 'inbound' ? /\/media\/.+$/.exec(pathOf(media_url))?.[0] : undefined;
  const name = nameOf(media_url);
  // Received files are stored by this server; the page loads nothing from other hosts.
  const href = stored === undefined ? media_url : `${basePath}${stored}`;
  const isPicture = stored !== undefined && /\.(jpe?g|png|gif|webp|heic|heif|bmp)$/i.test(stored);
  if (isPicture && !isBroken) {
    return (
      <a href={href} target="_blank" rel="noopener noreferrer" className="block w-fit max-w-full">
        <img
          src={href}
          alt={texts.receivedFile({ name })}
          onError={() => setIsBroken(true)}
          className="max-h-80 min-h-24 min-w-24 rounded-2xl border border-line bg-sunken object-contain"
        />
      </a>
    );
  }
  return (
    <a
      href={/^https?:/i.test(href) || href.startsWith('/') ? href : undefined}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="flex w-fit max-w-full items-center gap-2 rounded-2xl border border-line bg-surface px-3.5 py-2.5 text-ink hover:bg-sunken"
    >
      <Paperclip aria-hidden="true" className="size-4 shrink-0 text-quiet" />
      <span className="min-w-0">
        <span className="block truncate">{name}</span>
        {stored === undefined && (
          <span className="block truncate text-xs text-quiet">{hostOf(media_url)}</span>
        )}
      </span>
    </a>
  );
}

const parse = (url: string) => (URL.canParse(url) ? new URL(url) : undefined);
const pathOf = (url: string) => parse(url)?.pathname ?? '';
const hostOf = (url: string) => parse(url)?.host ?? url;

/** Takes the last path segment as the file's name. Its percent-encoding may be invalid. */
function nameOf(url: string): string {
  const last = pathOf(url).split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || texts.attachment;
  } catch {
    return last;
  }
}
