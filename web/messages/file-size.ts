import { texts as messageTexts } from './texts.ts';

const { steps: texts } = messageTexts;

/** The size of a file as people read it: `84 KB`, `1.2 MB`. */
export const fileSize = (bytes: number): string =>
  bytes < 100_000
    ? texts.kilobytes({ size: Math.ceil(bytes / 1_000) })
    : texts.megabytes({ size: Math.round(bytes / 100_000) / 10 });
