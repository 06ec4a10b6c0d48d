import { type Html, html } from '#server/platform/http/html.ts';

/**
 * Renders a value with a button that copies it. Without script one tap selects the value.
 * @param label the value in words, for screen readers
 */
export function copyRow(value: string, label = value): Html {
  return html`<div class="copy-row"><code class="value">${value}</code>${copyButton(value, label)}</div>`;
}

/** @param label the value in words, for screen readers */
export function copyButton(value: string, label: string): Html {
  return html`<button type="button" class="copy" data-copy="${value}" aria-label="Copy ${label}">Copy</button>`;
}

/** A wide button that copies a value which no person reads. Without script the value is shown. */
export function copyHidden(value: string, label: string): Html {
  return html`<button type="button" class="copy wide" data-copy="${value}">${label}</button><noscript><code class="value">${value}</code></noscript>`;
}

/** A message for the operator, and a button that copies it. */
export function copyMessage(message: string): Html {
  return html`<blockquote class="message">${message}</blockquote><button type="button" class="copy wide" data-copy="${message}">Copy this message</button>`;
}
