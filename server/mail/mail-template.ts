import { type Html, html, rawHtml } from '#server/http/html.ts';

/** Content of a mail as plain text: markup is escaped, and a line break becomes a space. */
export interface MailContent {
  readonly subject: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** Shell commands to copy, each in its own code block; line breaks stay. */
  readonly commands?: readonly string[];
  /** A link with an http or https URL; the URL is shown as text too. */
  readonly action?: { readonly label: string; readonly url: string };
  /** Small print at the end: why the reader gets this mail. */
  readonly footnote?: string;
}

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * Renders a mail as text and HTML, with the one template of all mails (specification section 10.6). Except for the
 * button, colours follow the reader's light or dark theme. The mail is readable without styles, has no image and loads
 * nothing.
 * @throws Error if the action's URL is not an http or https URL without spaces, which is a fault of the caller
 */
export function renderMail(content: MailContent): RenderedMail {
  const subject = oneLine(content.subject);
  const heading = oneLine(content.heading);
  const paragraphs = content.paragraphs.map(oneLine);
  const action = content.action && {
    label: oneLine(content.action.label),
    url: checkedUrl(content.action.url),
  };
  const footnote = content.footnote === undefined ? [] : [oneLine(content.footnote)];

  const commands = (content.commands ?? []).map((command) => command.split('\n').map(oneLine).join('\n'));

  const text = [
    heading,
    ...paragraphs,
    ...commands,
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    ...footnote,
  ];
  const parts = [
    html`<h1>${heading}</h1>`,
    ...paragraphs.map((paragraph) => html`<p>${paragraph}</p>`),
    ...commands.map((command) => html`<pre>${command}</pre>`),
    ...(action ? actionHtml(action.label, action.url) : []),
    ...footnote.map((line) => html`<p class="small">${line}</p>`),
  ];
  return { subject, text: `${text.join('\n\n')}\n`, html: page(subject, parts) };
}

/** Reduces a text to one line without control characters: a name can't add a mail header or reverse its sentence. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

function checkedUrl(url: string): string {
  if (/^https?:\/\/[^\s\p{C}<>"]+$/u.test(url)) return url;
  // The error text does not quote the URL, which may be a magic link.
  throw new Error('the address of a mail’s action is not an http or https address');
}

function actionHtml(label: string, url: string): Html[] {
  return [
    html`<p class="action"><a href="${url}">${label}</a></p>`,
    html`<p class="small">Or open this address:<br><a class="address" href="${url}">${url}</a></p>`,
  ];
}

const css = `:root { color-scheme: light dark; supported-color-schemes: light dark; }
body { margin: 0; }
.mail { max-width: 34rem; margin: 0 auto; padding: 1.5rem 1rem; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.4rem; line-height: 1.25; }
.action a { display: inline-block; padding: 0.7rem 1.2rem; border-radius: 10px; background: #0a5ad6; color: #fff; font-weight: 600; text-decoration: none; }
.small { font-size: 0.875rem; }
pre { padding: 0.7rem; border: 1px solid; border-radius: 6px; font-size: 0.8125rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.address { overflow-wrap: anywhere; word-break: break-word; }`;

/** Webmail strips html and body with their attributes, so an inner element repeats the language and the role. */
function page(title: string, body: readonly Html[]): string {
  return String(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${title}</title><style>
${rawHtml(css)}
</style></head>
<body><div class="mail" lang="en" role="article" aria-roledescription="email" aria-label="${title}">
${rawHtml(body.join('\n'))}
</div></body></html>
`);
}
