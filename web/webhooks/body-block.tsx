import type { ReactNode } from 'react';
import { CodeBlock } from '#web/kit/code-block.tsx';

/** The body of a request or an answer. JSON is shown indented; the copy is the text as it was sent. */
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
