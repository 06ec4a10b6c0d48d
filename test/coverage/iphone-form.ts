import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { repository } from '#test/support/processes/spawned-service.ts';

/** A table of the section *To confirm on an iPhone*: its heading, and its rows as Markdown. */
interface Table {
  readonly heading: string;
  readonly rows: readonly string[];
}

function readTables(): Table[] {
  const page = readFileSync(join(repository, 'docs/iphone.md'), 'utf8');
  const [, section = ''] = page.split('## To confirm on an iPhone\n');
  const [, ...parts] = section.split(/^### /m);
  return parts.map((part) => ({
    heading: part.slice(0, part.indexOf('\n')),
    rows: [...part.matchAll(/^\| (\d+) \| (.+?) \|/gm)].map(
      // The links of the page lead nowhere in a form.
      ([, number, todo = '']) => `**${number}** ${todo.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')}`,
    ),
  }));
}

const field = (type: string, id: string, attributes: object, required = true) => ({
  type,
  id,
  attributes,
  ...(required && { validations: { required } }),
});

/** The text of .github/ISSUE_TEMPLATE/iphone-report.yml: a box for each row of docs/iphone.md. */
export function iphoneForm(): string {
  const form = {
    name: 'iPhone report',
    description: 'What you saw on a real iPhone. One row is enough, also one that is as expected.',
    title: 'iPhone: ',
    body: [
      {
        type: 'markdown',
        attributes: {
          value:
            'The last section of `docs/iphone.md` says what to look for in each row. Tick the rows that were as it expects. ' +
            'Name the others below. Leave out real phone numbers, texts and setup codes.',
        },
      },
      field('input', 'model', { label: 'Model', placeholder: 'iPhone 15' }),
      field('input', 'ios', { label: 'iOS', placeholder: '27.1' }),
      field('input', 'language', { label: 'Language and region', placeholder: 'English, United States' }),
      field('input', 'version', {
        label: 'Ownline version',
        description: 'A comment in the shortcut says it, or `ownline --version`.',
      }),
      field('dropdown', 'installation', {
        label: 'How the shortcuts were added',
        options: [
          'iCloud links, with a setup code',
          'signed files, with a setup code',
          'files signed by SHORTCUT_SIGN_COMMAND',
          'built by hand',
          'not added yet',
        ],
      }),
      field(
        'textarea',
        'otherwise',
        {
          label: 'Rows that were otherwise, and what you noted',
          description: 'The words of questions as they stand there, and screenshots if you can.',
          placeholder: '6: Inbound asked twice. The second question was “…”\n10: Wi-Fi did not start it.',
        },
        false,
      ),
      ...readTables().map(({ heading, rows }, index) =>
        field(
          'checkboxes',
          `rows-${index + 1}`,
          { label: `As expected: ${heading}`, options: rows.map((label) => ({ label })) },
          false,
        ),
      ),
    ],
  };
  return `# Written by \`npm run docs\` from the tables of docs/iphone.md.\n${stringify(form, { lineWidth: 0 })}`;
}
