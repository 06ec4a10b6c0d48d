import type { FastifyRequest } from 'fastify';
import { AppError } from '#server/platform/app-error.ts';
import type { SignedIn } from '#server/platform/http/route.ts';
import type { Identify } from './doors.ts';

/** Who is signed in, for what may be asked by anybody; undefined where nobody is. */
export async function findSignedIn(
  identify: Identify,
  request: FastifyRequest,
): Promise<SignedIn | undefined> {
  try {
    return await identify(request);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthorized') return undefined;
    throw error;
  }
}
