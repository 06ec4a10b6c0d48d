import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '#test/support/processes/spawned-service.ts';

/**
 * Paths of all pages of the dashboard in web/router.tsx, such as `numbers/$id`. Node can't import that file, because
 * it has JSX.
 * @throws for a route that is written in another way, so that none is missed
 */
export async function dashboardRoutes(): Promise<readonly string[]> {
  const source = await readFile(join(repository, 'web/router.tsx'), 'utf8');
  const paths = [...source.matchAll(/\bpage\(\s*'([^']*)',/g)].map(([, path = '']) => path);
  const pages = source.match(/lazyRouteComponent\(\(\) =>/g) ?? [];
  if (paths.length === 0 || paths.length !== pages.length)
    throw new Error(`web/router.tsx has ${pages.length} pages, and ${paths.length} of them were read`);
  return paths;
}

/** The address of a route below its team: `/numbers/num_…`. @throws for a parameter without a value */
export function addressOf(route: string, values: Readonly<Record<string, string>>): string {
  const path = route.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`give $${name} of ${route} a value`);
    return encodeURIComponent(value);
  });
  return path === '/' ? '' : `/${path}`;
}
