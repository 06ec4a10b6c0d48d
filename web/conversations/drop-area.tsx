import { type DragEvent, type ReactNode, useState } from 'react';
import { texts as conversationTexts } from './texts.ts';

/** Takes a file that is dropped onto its content. */
export function DropArea({
  onFile,
  children,
}: {
  /** undefined if the person may not send. */
  readonly onFile: ((file: File) => void) | undefined;
  readonly children: ReactNode;
}): ReactNode {
  const [isOver, setIsOver] = useState(false);
  const takes = ({ dataTransfer }: DragEvent) => onFile !== undefined && dataTransfer.types.includes('Files');
  const onDragOver = (event: DragEvent) => {
    if (!takes(event)) return;
    event.preventDefault();
    setIsOver(true);
  };
  const onDragLeave = ({ currentTarget, relatedTarget }: DragEvent) => {
    if (!currentTarget.contains(relatedTarget as Node | null)) setIsOver(false);
  };
  const onDrop = (event: DragEvent) => {
    if (!takes(event)) return;
    event.preventDefault();
    setIsOver(false);
    const [file] = event.dataTransfer.files;
    if (file) onFile?.(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button for files does the same for the keyboard
    <div
      className="relative flex min-h-0 flex-1 flex-col"
      onDragOver={onDragOver}
      onDragLeave={onDragLeave}
      onDrop={onDrop}
    >
      {children}
      {isOver && (
        <div className="pointer-events-none absolute inset-2 z-20 grid rounded-2xl border-2 border-dashed border-accent bg-surface/90">
          <p className="m-auto text-lg font-medium text-accent-ink">{conversationTexts.file.drop}</p>
        </div>
      )}
    </div>
  );
}
