import { AppError } from '#server/platform/app-error.ts';
import { checkStrings } from './check-body.ts';

/**
 * The fields of a plain HTML form, as a route of the audience `page` is given its body: bytes, or nothing. Of a field
 * that came twice the last one counts.
 * @throws AppError 415 where it is sent another way; 400 for text that can't be kept
 */
export function readForm(body: unknown, contentType: string | undefined): Readonly<Record<string, string>> {
  if (!Buffer.isBuffer(body) || body.length === 0) return {};
  if (contentType?.split(';')[0]?.trim().toLowerCase() !== 'application/x-www-form-urlencoded') {
    throw new AppError(
      'invalid_request',
      'Send the form as the page does: application/x-www-form-urlencoded.',
      {
        status: 415,
      },
    );
  }
  const fields = Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  checkStrings(fields);
  return fields;
}
