import type { RefusedForm } from './form-route.ts';
import { type Html, html } from './html.ts';
import { messageHtml } from './html-page.ts';

interface FormField<Name extends string> {
  readonly name: Name;
  readonly label: string;
  readonly hint?: string;
  readonly attributes: Html;
}

/** Renders an input with its label and hint. It keeps what was typed, except a password, and an error points to it. */
export function formField<Name extends string>(
  { name, label, hint, attributes }: FormField<Name>,
  refused: RefusedForm<Name> | undefined,
): Html {
  const param = refused?.error.param;
  const value = refused && name !== 'password' && html` value="${refused.form[name]}"`;
  const isDescribed = refused !== undefined && (param ?? name) === name;
  return html`<label for="${name}">${label}${hint !== undefined && html` <span class="quiet">${hint}</span>`}</label>
<input id="${name}" name="${name}" ${attributes}${value}${param === name && html` aria-invalid="true"`}${isDescribed && html` aria-describedby="problem"`}>`;
}

/** Renders the error of a refused form, which stands above its fields. */
export function formProblem(refused: Pick<RefusedForm<string>, 'error'> | undefined): Html | undefined {
  return (
    refused && html`<p class="error" role="alert" id="problem">${messageHtml(refused.error.message)}</p>`
  );
}
