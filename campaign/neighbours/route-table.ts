import type { Ownline } from '../ownline.ts';
import type { Schema } from './schema.ts';

/** A route as `ownline routes --json` prints it. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly audience: string;
  readonly bodyLimitBytes: number;
  readonly body: Schema | undefined;
  readonly query: Schema | undefined;
}

/** The body limit of routes for which the table has none. */
const bodyLimitBytes = 256 * 1_024;

/** Reads the route table of the running service, so that new routes are measured without a change in the campaign. */
export async function readRoutes(ownline: Ownline): Promise<Route[]> {
  const printed: unknown = await ownline.commandOutput('routes');
  if (!Array.isArray(printed) || printed.length === 0) throw new Error('`ownline routes` printed no routes.');
  return printed.map((route: Partial<Record<keyof Route, unknown>>) => ({
    method: String(route.method),
    path: String(route.path),
    audience: String(route.audience),
    bodyLimitBytes: typeof route.bodyLimitBytes === 'number' ? route.bodyLimitBytes : bodyLimitBytes,
    body: schemaOf(route.body),
    query: schemaOf(route.query),
  }));
}

function schemaOf(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}
