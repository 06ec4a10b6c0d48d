import type { FastifyRequest } from 'fastify';
import { AppError } from '#server/platform/app-error.ts';
import { formFieldsMax } from './limits.ts';
import { validateStrings } from './validate-body.ts';

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
    throw new AppError('invalid_request', 'Send the form as application/x-www-form-urlencoded.', {
      status: 415,
    });
  }
  const text = decode(body);
  if (text.split('&', formFieldsMax + 1).length > formFieldsMax) {
    throw new AppError('invalid_request', `The form has too many fields. Send at most ${formFieldsMax}.`);
  }
  const fields = new Map(new URLSearchParams(text));
  for (const [name, value] of fields) validateStrings(value, name);
  return (name) => fields.get(name) ?? '';
}

function decode(body: Buffer): string {
  try {
    return strictUtf8.decode(body);
  } catch (error) {
    throw new AppError('invalid_request', 'The form is not valid UTF-8. Send it again.', { cause: error });
  }
}
