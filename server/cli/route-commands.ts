import type { Command } from 'commander';
import { printRows } from './command-context.ts';
import { buildRouteTable } from './route-table.ts';

export function addRouteCommands(program: Command): void {
  program
    .command('routes')
    .description('every route that the server answers; needs no database and no running server')
    .option('--json', 'print as JSON, with the schemas of bodies and queries', false)
    .action((options: { json: boolean }) => {
      const rows = buildRouteTable();
      const shown = rows.map(({ method, path, audience, permission, held, body_limit_bytes }) => ({
        method,
        path,
        audience,
        permission: permission ?? '',
        'body limit': body_limit_bytes === null ? '' : `${body_limit_bytes / 1_024} KiB`,
        notes: held ? 'long poll' : '',
      }));
      printRows(options.json ? rows : shown, options.json);
    });
}
