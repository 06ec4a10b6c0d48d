import { type ReactNode, useState } from 'react';
import { Button } from '#web/kit/button.tsx';
import { CodeBlock } from '#web/kit/code-block.tsx';
import { CopyRow } from '#web/kit/copy.tsx';
import { Dialog } from '#web/kit/dialog.tsx';
import { Segments } from '#web/kit/segments.tsx';
import { type Language, languages, receiverPrograms } from './receiver-programs.ts';
import { texts } from './texts.ts';

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
  const { file, run, code } = receiverPrograms[language];
  return (
    <Dialog
      isOpen
      isClosedByButtonsOnly
      onClose={onClose}
      title={title}
      description={texts.secret.shownOnce}
      footer={
        <Button look="primary" onClick={onClose}>
          {texts.secret.saved}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <CopyRow value={secret} what={texts.secret.theSecret} />
        <p className="text-quiet">{children}</p>
        <div className="flex flex-wrap items-center justify-between gap-2">
          <h3 className="font-medium">{texts.secret.verify}</h3>
          <Segments
            label={texts.secret.language}
            options={languages}
            chosen={language}
            onChoose={setLanguage}
          />
        </div>
        <CodeBlock title={file} text={code} what={file} />
        <CopyRow value={`WEBHOOK_SECRET=${secret} PORT=4000 ${run}`} what={texts.secret.theCommand} />
      </div>
    </Dialog>
  );
}
