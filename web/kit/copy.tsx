import { Check, Copy } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.tsx';

/** Copies a text. On plain http, where browsers have no clipboard, it selects the text of its value instead. */
export function CopyButton({
  text,
  label = 'Copy',
  what,
}: {
  readonly text: string;
  readonly label?: string;
  /** Names the value for people who hear the page: `Copy` and `the secret`. */
  readonly what?: string;
}): ReactNode {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <Button
      size="small"
      aria-label={what === undefined ? undefined : `${isCopied ? 'Copied' : label} ${what}`}
      onClick={() => void copy(text).then(() => setIsCopied(true))}
    >
      {isCopied ? <Check /> : <Copy />}
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </Button>
  );
}

async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

/** A value that is made to be copied: a key, a secret, a link, a snippet. */
export function CopyRow({ value, what }: { readonly value: string; readonly what: string }): ReactNode {
  return (
    <div className="flex items-start gap-2 rounded-lg border border-line bg-sunken py-2 pr-2 pl-3">
      <pre className="min-w-0 flex-1 self-center font-mono text-[0.8125rem] break-all whitespace-pre-wrap select-all">
        {value}
      </pre>
      <CopyButton text={value} what={what} />
    </div>
  );
}
