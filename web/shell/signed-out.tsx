import { type ReactNode, useSyncExternalStore } from 'react';
import { openSignIn, signedOut, unsentTexts } from '#web/api/signed-out.ts';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { CopyButton } from '#web/kit/copy.tsx';
import { texts } from './texts.ts';

/** Shows the pages; after the end of the session, it shows the texts that were not sent. */
export function UntilSignedOut({ children }: { readonly children: ReactNode }): ReactNode {
  const isSignedOut = useSyncExternalStore(signedOut.subscribe, signedOut.get);
  if (!isSignedOut) return children;
  return (
    <main className="mx-auto flex max-w-xl flex-col gap-5 px-4 py-10">
      <h1 className="text-xl font-semibold">{texts.signedOut.title}</h1>
      <p className="text-quiet">{texts.signedOut.why}</p>
      <UnsentTexts />
      <Button look="primary" className="self-start" onClick={openSignIn}>
        {texts.signedOut.signIn}
      </Button>
    </main>
  );
}

/** The texts that a person typed and did not send, to be copied; nothing if there are none. */
export function UnsentTexts(): ReactNode {
  const unsent = unsentTexts();
  if (unsent.length === 0) return null;
  return (
    <Card title={texts.signedOut.unsent({ count: unsent.length })}>
      <ul className="flex flex-col gap-3">
        {unsent.map((text) => (
          <li key={text} className="flex items-start justify-between gap-3">
            <p dir="auto" className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
              {text}
            </p>
            <CopyButton text={text} what={texts.signedOut.theText} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
