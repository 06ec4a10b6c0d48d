import type { ReactNode } from 'react';
import { CodeBlock } from '#web/kit/code-block.tsx';

/** The body of a request or response. JSON is indented; the copy button copies the original text. */
export function BodyBlock({
  title,
  text,
  what,
}: {
  readonly title: string;
  readonly text: string;
  readonly what: string;
}): ReactNode {
  return <CodeBlock title={title} text={indented(text)} copied={text} what={what} />;
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
