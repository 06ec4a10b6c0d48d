import type { Ownline } from '../ownline.ts';
import type { Schema } from './schema.ts';

/** A route as `ownline routes --json` prints it. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly audience: string;
  readonly body_limit_bytes: number;
  readonly body: Schema | null;
  readonly query: Schema | null;
}

/** The body limit of routes for which the table has none. */
const defaultLimitBytes = 256 * 1_024;

/** Reads the route table of the running service, so that new routes are measured without a change in the campaign. */
export async function readRoutes(ownline: Ownline): Promise<Route[]> {
  const printed = (await ownline.commandOutput('routes')) as readonly Route[];
  if (printed.length === 0) throw new Error('`ownline routes` printed no routes.');
  return printed.map((route) => ({
    ...route,
    body_limit_bytes: route.body_limit_bytes ?? defaultLimitBytes,
  }));
}

export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`;
