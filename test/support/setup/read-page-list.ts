import type { Page } from 'playwright-core';

/** Labels of fields that get the previous action's result if the page names no value. */
const filledIn: Readonly<Record<string, string>> = {
  'Set Variable': 'Input',
  'Get Dictionary from Input': 'Input',
  'Get Dictionary Value': 'Dictionary',
};

/** Names that the editor gives to the results of actions. */
const results: Readonly<Record<string, string>> = {
  'Get Contents of URL': 'Contents of URL',
  Text: 'Text',
  'Get Device Details': 'Device Details',
  'Random Number': 'Random Number',
  'Get Dictionary from Input': 'Dictionary',
  'Get Dictionary Value': 'Dictionary Value',
};

interface ShownAction {
  readonly heading: string;
  readonly action: string;
  readonly fields: readonly { readonly label: string; readonly text: string }[];
}

/**
 * Reads the build list of the page as plain text, with variables in square brackets.
 * Inputs that the page does not name, as the editor fills them in, are added.
 */
export async function readPageList(page: Page, shortcut: string): Promise<string> {
  const shown = await page.evaluate<ShownAction[]>(
    `[...document.querySelectorAll('ol[data-shortcut="${shortcut}"] [data-action]')].map((element) => ({
      heading: (element.querySelector('b') ?? element).textContent,
      action: element.dataset.action,
      fields: [...element.querySelectorAll('[data-field]')].map((field) => ({
        label: field.dataset.field,
        text: [...field.childNodes]
          .filter(({ nodeName }) => nodeName !== 'BUTTON' && nodeName !== 'SMALL')
          .map((node) => node.nodeName === 'VAR' ? '[' + node.textContent + ']' : node.textContent)
          .join(''),
      })),
    }))`,
  );
  let before = '';
  return shown
    .flatMap(({ heading, action, fields }) => {
      const missing = filledIn[action];
      const isNamed = missing === undefined || fields.some(({ label }) => label === missing);
      const all = isNamed
        ? fields
        : [...fields, { label: missing, text: `[${before} of the action before]` }];
      before = results[action] ?? before;
      return [heading, ...all.map(({ label, text }) => `${label}: ${text}`)];
    })
    .join('\n');
}
