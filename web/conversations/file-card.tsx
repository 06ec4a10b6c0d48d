import { Paperclip, X } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { ApiError } from '#web/api/request.ts';
import { Button, IconButton } from '#web/kit/button.tsx';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { fileSize } from '#web/messages/file-size.ts';
import type { DraftFile } from './composition-store.ts';
import { texts as conversationTexts } from './texts.ts';

const { file: texts } = conversationTexts;

/** The file of a draft: its picture, its name, how much was uploaded, and what is wrong with it. */
export function FileCard({
  file,
  onRemove,
  onRetry,
}: {
  readonly file: DraftFile;
  readonly onRemove: () => void;
  readonly onRetry: (file: File) => void;
}): ReactNode {
  const { name, size, blob, progress, media, error } = file;
  const isUploading = !media && !error;
  return (
    <>
      <div className="flex items-center gap-3 rounded-xl border border-line bg-page p-2">
        <Picture file={file} />
        <div className="min-w-0 flex-1">
          <p className="truncate font-medium">
            <bdi>{name}</bdi>
          </p>
          <p role="status" className="text-xs text-quiet">
            {fileSize(size)}
            {isUploading && ` · ${texts.uploading}`}
          </p>
          {isUploading && (
            <div
              role="progressbar"
              aria-label={texts.uploading}
              aria-valuenow={Math.round(progress * 100)}
              className="mt-1.5 h-1 overflow-hidden rounded-full bg-sunken"
            >
              <div className="h-full rounded-full bg-accent" style={{ width: `${progress * 100}%` }} />
            </div>
          )}
        </div>
        {error instanceof ApiError && blob instanceof File && (
          <Button size="small" onClick={() => onRetry(blob)}>
            {texts.tryAgain}
          </Button>
        )}
        <IconButton label={isUploading ? texts.cancel : texts.remove} onClick={onRemove}>
          <X />
        </IconButton>
      </div>
      {error && <ErrorNote error={error} />}
    </>
  );
}

/** A file that is being sent, as its bubble shows it. */
export const SentFile = ({ file }: { readonly file: DraftFile }): ReactNode => (
  <div className="flex w-fit max-w-full items-center gap-3 rounded-2xl border border-line bg-surface p-2 pr-3.5">
    <Picture file={file} />
    <bdi className="truncate">{file.name}</bdi>
  </div>
);

/** The picture of a file; a sign if the browser can't draw it. */
function Picture({ file: { blob, type } }: { readonly file: DraftFile }): ReactNode {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!blob || !type.startsWith('image/')) return;
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob, type]);
  const style = 'size-11 shrink-0 rounded-lg bg-sunken';
  if (url)
    return <img src={url} alt="" onError={() => setUrl(undefined)} className={`${style} object-cover`} />;
  return (
    <span className={`${style} grid place-items-center text-quiet`}>
      <Paperclip aria-hidden="true" className="size-4" />
    </span>
  );
}
