import { Check, Copy } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { texts } from './texts.ts';

type Outcome = 'copied' | 'selected' | undefined;

/** The words of a copy button. */
interface CopyWords {
  readonly copy: string;
  readonly copied: string;
  readonly notCopied: string;
  /** Shown if the value is selected and the person can copy it; `notCopied` by default. */
  readonly selected?: string;
}

/**
 * Copies a text. On plain http, where browsers have no clipboard API, it selects the shown value and copies the
 * selection. If that fails too, the value stays selected and the button says so.
 */
export function CopyButton({
  text,
  words = texts.copy,
  label = words.copy,
  what,
  value,
}: {
  readonly text: string;
  readonly words?: CopyWords;
  readonly label?: string;
  /** Completes the button's accessible name: `Copy` and `the secret`. */
  readonly what?: string;
  /** The element that shows exactly the text. Without it a temporary field beside the button is used. */
  readonly value?: RefObject<HTMLElement | null>;
}): ReactNode {
  const [outcome, setOutcome] = useState<Outcome>();
  const frame = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (outcome === undefined) return;
    const timer = setTimeout(() => setOutcome(undefined), outcome === 'copied' ? 2_000 : 8_000);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    const isCopied = (await writeToClipboard(text)) || copyShown(text, value?.current, frame.current);
    setOutcome(isCopied ? 'copied' : 'selected');
  };
  const shown =
    outcome === undefined
      ? label
      : outcome === 'copied'
        ? words.copied
        : ((value && words.selected) ?? words.notCopied);
  return (
    <span ref={frame}>
      <Button
        size="small"
        aria-label={what === undefined ? undefined : `${shown} ${what}`}
        onClick={() => void copy()}
      >
        {outcome === 'copied' ? <Check /> : <Copy />}
        <span aria-live="polite">{shown}</span>
      </Button>
    </span>
  );
}

/**
 * Copies a text by the clipboard API. @returns true if the text was copied; browsers may refuse without focus or
 * permission
 */
export async function writeToClipboard(text: string): Promise<boolean> {
  if (!navigator.clipboard) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

/** Copies a selection. The temporary field is beside the button, because a dialog keeps the focus inside. */
export function copyShown(
  text: string,
  value: HTMLElement | null | undefined,
  beside: HTMLElement | null,
): boolean {
  if (value) {
    getSelection()?.selectAllChildren(value);
    return document.execCommand('copy');
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'sr-only';
  beside?.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  return isCopied;
}

/** A key, a secret or a link in one scrolling line, with a copy button. */
export function CopyRow({
  value,
  what,
  words,
}: {
  readonly value: string;
  readonly what: string;
  readonly words?: CopyWords;
}): ReactNode {
  const shown = useRef<HTMLPreElement>(null);
  return (
    <div className="flex min-w-0 items-center gap-1 rounded-lg border border-line bg-sunken py-1.5 pr-1.5">
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard scrolls it
        tabIndex={0}
        aria-label={what}
        className="fading-end min-w-0 flex-1 focus-visible:-outline-offset-2 overflow-x-auto rounded-md px-3 py-1 [scrollbar-width:none]"
      >
        <pre ref={shown} className="w-max pr-4 font-mono text-[0.8125rem] whitespace-pre select-all">
          {value}
        </pre>
      </section>
      <CopyButton text={value} what={what} value={shown} words={words} />
    </div>
  );
}
