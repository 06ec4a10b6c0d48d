import { Type } from 'typebox';
import { AppError } from '#server/platform/app-error.ts';
import { parseForm } from './parse-form.ts';
import { type Answer, type HandlerContext, type Route, route } from './route.ts';
import { textFieldsSchema } from './text-fields-schema.ts';

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
  const shared = { path, audience: 'page', answers: pageAnswers } as const;
  return [
    route({ ...shared, method: 'GET', handle: (call) => show(call) }),
    route({ ...shared, method: 'POST', looseBody: textFieldsSchema(...fields), audit, handle }),
  ];
}
