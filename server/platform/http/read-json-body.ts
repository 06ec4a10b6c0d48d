import type { FastifyRequest } from 'fastify';
import { AppError } from '#server/platform/app-error.ts';
import { checkJsonBounds } from './json-bounds.ts';
import { validateStrings } from './validate-body.ts';

/** Parses a JSON body. An empty or missing body reads as `{}`, so that the error names the missing fields. */
export function readJsonBody(request: FastifyRequest): unknown {
  if (!Buffer.isBuffer(request.body) || request.body.length === 0) return {};
  const { 'content-encoding': encoding, 'content-type': type } = request.headers;
  if (encoding !== undefined && !/^(identity)?$/i.test(encoding)) {
    throw new AppError('invalid_request', 'The body is compressed. Send it without Content-Encoding.', {
      param: 'Content-Encoding',
      status: 415,
      headers: { 'accept-encoding': 'identity' },
    });
  }
  if (type !== 'application/json' && type?.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    throw new AppError('invalid_request', 'Send the body with Content-Type: application/json.', {
      status: 415,
    });
  }
  checkJsonBounds(request.body);
  const body = parseJson(request.body);
  validateStrings(body);
  return body;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(strictUtf8.decode(bytes));
  } catch (error) {
    throw new AppError(
      'invalid_request',
      'The body is not valid JSON in UTF-8. Check quotes, commas and encoding.',
      {
        cause: error,
      },
    );
  }
}
