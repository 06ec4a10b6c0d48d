import { optOutWords } from '#contract/opt-out-words.ts';
import { coverageDocument } from './coverage.ts';

// Prints the tables for docs/iphone.md: `node shortcut/inbound-coverage/print-coverage.ts`.
process.stdout.write(`${coverageDocument(optOutWords)}\n`);
