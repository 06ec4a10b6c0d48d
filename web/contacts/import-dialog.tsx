import { useMutation } from '@tanstack/react-query';
import { FileUp } from 'lucide-react';
import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import type { ImportedContacts } from '#contract/contact.ts';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Button, Spinner } from '#web/kit/button.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { Dialog, type DialogState } from '#web/kit/dialog.tsx';
import { ErrorNote, Note } from '#web/kit/error-note.tsx';
import { listOf } from '#web/kit/format.ts';
import { Hint } from '#web/kit/text.tsx';
import { useTeam } from '#web/shell/session.ts';
import { importContacts, rereadContacts } from './contact-queries.ts';
import { texts as contactTexts } from './texts.ts';

const { import: texts } = contactTexts;

const bytesMax = 5 * 1_024 * 1_024;

/** Imports a file of contacts. It first shows what will change. */
export function ImportDialog({ isOpen, onClose }: DialogState): ReactNode {
  const team = useTeam();
  const [file, setFile] = useState<File>();
  const work = useMutation({
    mutationFn: async ({ file, isPreview }: { readonly file: File; readonly isPreview: boolean }) => {
      if (file.size > bytesMax) throw new Error(texts.tooLarge);
      const answer = await importContacts(team.id, file, isPreview);
      if (!isPreview) await rereadContacts(team.id);
      return answer;
    },
  });
  const choose = (chosen: File | undefined) => {
    setFile(chosen);
    if (chosen) work.mutate({ file: chosen, isPreview: true });
    else work.reset();
  };
  const close = () => {
    onClose();
    choose(undefined);
  };
  const { data: answer, isPending, variables } = work;
  const isPreview = variables?.isPreview ?? true;
  const isDone = answer !== undefined && !isPreview;
  const isChange = answer !== undefined && answer.created + answer.updated > 0;
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={texts.title}
      description={file?.name}
      isBusy={isPending && !isPreview}
      footer={
        file === undefined ? undefined : isDone ? (
          <Button look="primary" onClick={close}>
            {texts.done}
          </Button>
        ) : (
          <>
            {!isPending && <Button onClick={() => choose(undefined)}>{texts.another}</Button>}
            <Button
              look="primary"
              isBusy={isPending && !isPreview}
              disabled={!isChange}
              onClick={() => work.mutate({ file, isPreview: false })}
            >
              {texts.action}
            </Button>
          </>
        )
      }
    >
      <div className="flex flex-col gap-4">
        {work.error && <ErrorNote error={work.error} />}
        {file === undefined && <Chooser onChoose={choose} />}
        {isPending && (
          <p role="status" className="flex items-center gap-2.5 text-quiet">
            <Spinner /> {isPreview ? texts.reading : texts.importing}
          </p>
        )}
        {answer && <Outcome answer={answer} isDone={isDone} />}
      </div>
    </Dialog>
  );
}

/** A place to drop a file, with a button that opens the browser's choice. */
function Chooser({ onChoose }: { readonly onChoose: (file: File | undefined) => void }): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const over = (event: DragEvent, isInside: boolean) => {
    event.preventDefault();
    setIsOver(isInside);
  };
  return (
    <section
      aria-label={texts.file}
      onDragOver={(event) => over(event, true)}
      onDragLeave={(event) => over(event, false)}
      onDrop={(event) => {
        over(event, false);
        onChoose(event.dataTransfer.files[0]);
      }}
      className={classNames(
        'flex flex-col items-center gap-3 rounded-xl border border-dashed border-line-strong px-4 py-8 text-center',
        isOver && 'border-accent bg-accent-tint',
      )}
    >
      <input
        ref={field}
        type="file"
        accept=".csv,.vcf,.vcard,text/csv,text/vcard"
        aria-label={texts.file}
        className="sr-only"
        tabIndex={-1}
        onChange={(event) => onChoose(event.target.files?.[0])}
      />
      <Button onClick={() => field.current?.click()}>
        <FileUp /> {texts.choose}
      </Button>
      <Hint>{texts.how}</Hint>
    </section>
  );
}

function Outcome({ answer, isDone }: { readonly answer: ImportedContacts; readonly isDone: boolean }) {
  const { created, updated, skipped, changes = [] } = answer;
  const counts = [
    created > 0 && (isDone ? texts.wereAdded : texts.willBeAdded)({ count: created }),
    updated > 0 && (isDone ? texts.wereChanged : texts.willBeChanged)({ count: updated }),
    skipped.length > 0 && (isDone ? texts.wereSkipped : texts.willBeSkipped)({ count: skipped.length }),
  ].filter((part) => part !== false);
  return (
    <>
      <p role="status" className="font-medium">
        {counts.length === 0 ? texts.nothing : texts.sum({ counts: listOf(counts) })}
      </p>
      {skipped.length > 0 && (
        <Note tone="warn">
          <ul aria-label={texts.skipped} className="flex max-h-32 flex-col gap-1 overflow-y-auto">
            {skipped.map(({ line, reason }) => (
              <li key={`${line} ${reason}`}>{texts.skippedLine({ line: String(line), reason })}</li>
            ))}
          </ul>
        </Note>
      )}
      {changes.length > 0 && (
        <ul aria-label={texts.changes} className="flex flex-col rounded-lg border border-line">
          {changes.map(({ line, action, name, handles }) => (
            <li
              key={line}
              className="flex items-center justify-between gap-3 border-b border-line px-3.5 py-2 last:border-0"
            >
              <span className="min-w-0">
                <bdi className="font-medium">{name}</bdi>
                <span className="block text-xs text-quiet">{listOf(handles.map(formatPhoneNumber))}</span>
              </span>
              <Badge tone={action === 'create' ? 'good' : 'accent'}>{texts.actions[action]}</Badge>
            </li>
          ))}
        </ul>
      )}
      {changes.length > 0 && created + updated > changes.length && (
        <Hint>{texts.moreChanges({ count: created + updated - changes.length })}</Hint>
      )}
    </>
  );
}
