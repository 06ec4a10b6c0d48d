import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '#test/support/architecture/sources.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

/** A sentence of a comment, a document or a test title. */
interface Sentence {
  readonly path: string;
  /** Line in which the comment, paragraph or title begins. */
  readonly line: number;
  readonly text: string;
}

const folders =
  '{bench,campaign,clients,contract,referees,server,shortcut,simulated-phone,test,web,webhook-listener}';
// Comments that begin a line or follow code. Strings that contain /* or // do not match.
const comment = /^[ \t]*\{?\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+|[ \t]\/\/ .*$/gm;
const title = /\b(?:describe|it|test)\(\s*(?:'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`)/g;

const capitalized = (sentence: string) => sentence.slice(0, 1).toUpperCase() + sentence.slice(1);
const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length;

/** A generated file, whose comments come from the OpenAPI document. */
const generated = 'clients/typescript/src/openapi.ts';

/** A sentence begins with its subject: `The draft of a conversation`, not `What is written in a conversation`. */
const withoutSubject = /^["“(]?(?:What|Who|Whom|Whose|Whoever|Whatever|Of)\b/;
/** Words without a clear subject. A code name in backticks is allowed, such as the system's user `nobody`. */
const ruledOut =
  /(?<!`)\b(?:(?:any|every|no|some)body|whoever|to whom|(?:is|are|was|were) told|(?:is|are|be) let in|doors?|knocks?)\b(?!`)/i;

const wordsMax = 25;

/** Sentences of all comments of programs. */
function commentSentences(): Sentence[] {
  const sources = read(`${folders}/**/*.{ts,tsx,mjs,js,css}`).filter(({ path }) => path !== generated);
  return sources.flatMap(({ path, text }) =>
    [...text.matchAll(comment)].flatMap((match) => {
      const prose = match[0]
        .replaceAll(/\*\/\}?\s*$/g, '')
        .replaceAll(/^[ \t]*(?:\{?\/\*\*?|\*|\/\/)/gm, ' ')
        .replaceAll(/@(?:returns|throws)\b/g, '. ');
      return split(prose).map((sentence) => ({
        path,
        line: lineAt(text, match.index),
        text: capitalized(sentence),
      }));
    }),
  );
}

/** Sentences of all documents, except headings and code blocks. The glossary is left out. */
function documentSentences(): Sentence[] {
  const documents = read('{*.md,{bench,campaign,referees}/*.md,clients/*/*.md,docs/**/*.md}').filter(
    ({ path }) => !/^docs\/glossary\.md$/.test(path),
  );
  return documents.flatMap(({ path, text }) => {
    const prose = text
      .replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, ''))
      .replaceAll(/^#.*$/gm, '')
      .replaceAll(/<!--.*?-->/g, '');
    // Each match is a paragraph, a list item or a row of a table.
    return [...prose.matchAll(/\S.*(?:\n(?!\s*(?:[-*|]|\d+\.)\s)[ \t]*\S.*)*/g)].flatMap((match) =>
      match[0]
        .split('|')
        .flatMap((cell) => split(cell.replaceAll(/^\s*(?:[-*]|\d+\.)\s/gm, '').replaceAll('**', '')))
        .map((sentence) => ({ path, line: lineAt(text, match.index), text: sentence })),
    );
  });
}

function testTitles(): Sentence[] {
  return read('test/**/*.test.ts').flatMap(({ path, text }) =>
    [...text.matchAll(title)].map((match) => ({
      path,
      line: lineAt(text, match.index),
      text: capitalized(match[1] ?? match[2] ?? ''),
    })),
  );
}

/** Splits a sentence at semicolons, tags such as `@param`, and hyphens of lists. */
function partsOf(sentence: string): string[] {
  return sentence.split(/(?<=[.;?!])\s+|\s(?=@\w)|\s- /);
}

const countWords = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

function read(pattern: string): { readonly path: string; readonly text: string }[] {
  return globSync(pattern, { cwd: root, exclude: (name) => /(?:^|\/)(?:node_modules|dist)$/.test(name) }).map(
    (path) => ({ path, text: readFileSync(join(root, path), 'utf8') }),
  );
}

function split(prose: string): string[] {
  return prose
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.!?])\s+(?=["“`(A-Z])|^\s*\.\s|\s\.\s/)
    .map((sentence) => sentence.trim())
    .filter(Boolean);
}

function offences(sentences: readonly Sentence[]): string[] {
  return sentences
    .filter(({ text }) => withoutSubject.test(text) || ruledOut.test(text))
    .map(({ path, line, text }) => `${path}:${line}: ${text}`);
}

describe('sentences have a subject, are short and use no pronoun for people (CONTRIBUTING.md, How it is written)', () => {
  it('comments follow the rules of prose', () => {
    const sentences = commentSentences();
    assert.ok(sentences.length > 4_000);
    assert.deepEqual(offences(sentences), []);
    const long = sentences.filter(({ text }) => partsOf(text).some((part) => countWords(part) > wordsMax));
    assertEach(
      long,
      ({ path, line, text }) => `${path}:${line}: ${text}`,
      [],
      `more than ${wordsMax} words in a sentence`,
    );
  });

  it('documents follow the rules of prose', () => {
    const sentences = documentSentences();
    assert.ok(sentences.length > 2_000);
    assert.deepEqual(offences(sentences), []);
  });

  it('test titles follow the rules of prose', () => {
    const titles = testTitles();
    assert.ok(titles.length > 1_000);
    assert.deepEqual(offences(titles), []);
  });
});
