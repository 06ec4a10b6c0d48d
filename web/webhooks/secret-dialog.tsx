import { type ReactNode, useState } from 'react';
import { Button } from '#web/kit/button.tsx';
import { CodeBlock } from '#web/kit/code-block.tsx';
import { CopyRow } from '#web/kit/copy.tsx';
import { Dialog } from '#web/kit/dialog.tsx';
import { Segments } from '#web/kit/segments.tsx';
import { type Language, languages, receiverPrograms } from './receiver-programs.ts';

/** Shows a secret, which is not shown again, with a receiver that verifies signatures. */
export function SecretDialog({
  title,
  secret,
  children,
  onClose,
}: {
  readonly title: string;
  readonly secret: string;
  /** Instructions below the secret. */
  readonly children: ReactNode;
  readonly onClose: () => void;
}): ReactNode {
  const [language, setLanguage] = useState<Language>('Node');
  const { file, run, text } = receiverPrograms[language];
  return (
    <Dialog
      isOpen
      isClosedByButtonsOnly
      onClose={onClose}
      title={title}
      description="It is shown this once. Keep it where your receiver reads its settings."
      footer={
        <Button look="primary" onClick={onClose}>
          I have saved it
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <CopyRow value={secret} what="the secret" />
        <p className="text-quiet">{children}</p>
        <div className="flex flex-wrap items-center justify-between gap-2">
          <h3 className="font-medium">Verify each request</h3>
          <Segments label="Language" options={languages} chosen={language} onChoose={setLanguage} />
        </div>
        <CodeBlock title={file} text={text} what={file} />
        <CopyRow value={`WEBHOOK_SECRET=${secret} PORT=4000 ${run}`} what="the command" />
      </div>
    </Dialog>
  );
}
