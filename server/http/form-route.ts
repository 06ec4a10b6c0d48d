import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AppError, unreadable } from '#server/platform/app-error.ts';
import { type Html, html, messageHtml } from './html.ts';
import { formFieldsMax } from './limits.ts';
import { type Answer, type HandlerContext, type Route, route } from './route.ts';
import { textFieldsSchema, validateStrings } from './validate.ts';

const statuses = [200, 303, 400, 401, 402, 403, 404, 409, 415, 429, 503];
export const pageAnswers = Object.fromEntries(statuses.map((status) => [status, Type.String()]));

/** The fields of a submitted form; a missing one is ''. */
type Form<Field extends string> = Readonly<Record<Field, string>>;

/** The error of a submitted form, with its fields, so that the person need not type them again. */
export interface RefusedForm<Field extends string> {
  readonly error: AppError;
  readonly form: Form<Field>;
}

interface FormPage<Field extends string> {
  readonly path: string;
  readonly fields: readonly Field[];
  readonly audit: string;
  readonly show: (call: HandlerContext, refused?: RefusedForm<Field>) => Promise<Answer>;
  readonly submit: (call: HandlerContext, form: Form<Field>) => Promise<Answer>;
}

/**
 * Routes of a page whose form works without a script: GET shows the page, and POST submits the form. A refused submit
 * shows the page again, with the error; metrics and the log still count it as an error.
 */
export function formRoutes<Field extends string>(page: FormPage<Field>): Route[] {
  const { path, fields, audit, show, submit } = page;
  const read = (field: (name: Field) => string) =>
    Object.fromEntries(fields.map((name) => [name, field(name)])) as Form<Field>;
  const handle = async (call: HandlerContext): Promise<Answer> => {
    let form = read(() => '');
    try {
      form = read(parseForm(call.request));
      return await submit(call, form);
    } catch (error) {
      if (!(error instanceof AppError) || error.status === 500) throw error;
      call.request.errorCode = error.code;
      const shown = await show(call, { error, form });
      return { ...shown, status: error.status, headers: { ...shown.headers, ...error.headers } };
    }
  };
  const shared = { audience: 'page', answers: pageAnswers } as const;
  return [
    route(`GET ${path}`, { ...shared, handle: (call) => show(call) }),
    route(`POST ${path}`, { ...shared, looseBody: textFieldsSchema(...fields), audit, handle }),
  ];
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a form of one of the server's pages.
 * @returns a function that reads a field: '' for a missing one, the last value of a repeated one
 * @throws 400 for invalid UTF-8; 415 for another Content-Type
 */
export function parseForm(request: FastifyRequest): (name: string) => string {
  const { body } = request;
  if (!Buffer.isBuffer(body) || body.length === 0) return () => '';
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') {
    throw unreadable('Send the form as application/x-www-form-urlencoded.', 415);
  }
  const text = decode(body);
  if (text.split('&', formFieldsMax + 1).length > formFieldsMax) {
    throw unreadable(`The form has too many fields. Send at most ${formFieldsMax}.`);
  }
  const fields = new Map(new URLSearchParams(text));
  for (const [name, value] of fields) validateStrings(value, name);
  return (name) => fields.get(name) ?? '';
}

function decode(body: Buffer): string {
  try {
    return strictUtf8.decode(body);
  } catch (error) {
    throw unreadable('The form is not valid UTF-8. Send it again.', 400, { cause: error });
  }
}

interface FormField<Name extends string> {
  readonly name: Name;
  readonly label: string;
  readonly hint?: string;
  readonly attributes: Html;
}

/**
 * Renders an input with its label and hint. After a refusal it keeps the typed value, except a password, and refers to
 * the error.
 */
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

/** Renders the error of a refused form; the error stands above the form's fields. */
export function formProblem(refused: Pick<RefusedForm<string>, 'error'> | undefined): Html | undefined {
  return (
    refused && html`<p class="error" role="alert" id="problem">${messageHtml(refused.error.message)}</p>`
  );
}
