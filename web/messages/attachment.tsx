import { Paperclip } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { Message } from '#contract/message.ts';
import { nowMs } from '#web/kit/clock.ts';
import { fileName, storedPath } from './stored-file.ts';
import { texts } from './texts.ts';

/** After this time the server has copied an uploaded file for its message. */
const copiedMs = 2_000;

/** Shows a picture that this server has. Other files, also those on other hosts, are links. */
export function Attachment({ message }: { readonly message: Message }): ReactNode {
  const { media_url, direction, created_at } = message;
  const [isBroken, setIsBroken] = useState(false);
  const isCopied = useIsAfter(Date.parse(created_at) + (direction === 'outbound' ? copiedMs : 0));
  if (media_url === null) return null;
  const path = storedPath(message);
  const name = fileName(message);
  const href = path ?? media_url;
  const isPicture = path !== undefined && /\.(jpe?g|png|gif|webp|heic|heif|bmp)$/i.test(path);
  if (isPicture && !isBroken) {
    const sentence = direction === 'inbound' ? texts.receivedFile : texts.sentFile;
    const style = 'max-h-80 min-h-24 min-w-24 rounded-2xl border border-line bg-sunken object-contain';
    if (!isCopied) return <div className={style} />;
    return (
      <a href={href} target="_blank" rel="noopener noreferrer" className="block w-fit max-w-full">
        <img src={href} alt={sentence({ name })} onError={() => setIsBroken(true)} className={style} />
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
        {path === undefined && <span className="block truncate text-xs text-quiet">{hostOf(media_url)}</span>}
      </span>
    </a>
  );
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);

/** Whether a time has come; the component is drawn again then. */
function useIsAfter(atMs: number): boolean {
  const [isAfter, setIsAfter] = useState(nowMs() >= atMs);
  useEffect(() => {
    if (isAfter) return;
    const timer = setTimeout(() => setIsAfter(true), atMs - nowMs());
    return () => clearTimeout(timer);
  }, [isAfter, atMs]);
  return isAfter;
}
