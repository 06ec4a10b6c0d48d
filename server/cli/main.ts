import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { schemaVersion } from '#server/database/apply-schema.ts';
import { databaseUrlOf } from '#server/database/database-url.ts';
import type { AddCommands } from '#server/database/slice.ts';
import { loadEnvironment, readConfig } from '#server/platform/config.ts';
import { InterruptedError } from '#server/platform/process/interruption.ts';
import { productCommit, productVersion } from '#server/platform/process/product-version.ts';
import { describeCommandError, onRuntime } from './command-context.ts';

/** Loads commands, by their first word, in the order of `--help`. The commands of a slice are in the slice's folder. */
const adders: Readonly<Record<string, () => Promise<AddCommands>>> = {
  backup: async () => (await import('#server/backups/backup-commands.ts')).addBackupCommands,
  restore: async () => (await import('./restore-commands.ts')).addRestoreCommands,
  clock: async () => (await import('#server/database/clock-commands.ts')).addClockCommands,
  doctor: async () => (await import('./doctor-commands.ts')).addDoctorCommand,
  team: async () => (await import('#server/teams/team-commands.ts')).addTeamCommands,
  key: async () => (await import('#server/api-keys/key-commands.ts')).addKeyCommands,
  link: async () => (await import('#server/teams/team-commands.ts')).addLinkCommand,
  number: async () => (await import('#server/numbers/number-commands.ts')).addNumberCommands,
  phone: async () => (await import('./phone-commands.ts')).addPhoneCommands,
  shortcut: async () => (await import('./shortcut-commands.ts')).addShortcutCommands,
  webhook: async () => (await import('./webhook-commands.ts')).addWebhookCommands,
  erase: async () => (await import('#server/erasure/erase-command.ts')).addEraseCommand,
  demo: async () => (await import('./demo-commands.ts')).addDemoCommand,
  routes: async () => (await import('./route-table.ts')).addRouteCommands,
};

const program = new Command('ownline')
  .description("Ownline: an iMessage API over your team's own iPhones. Commands run beside a running server.")
  .option('--version', 'print the version, its commit and that of the database schema; with --json as JSON')
  .on('option:version', () => {
    const json = {
      version: productVersion,
      commit: productCommit ?? null,
      schema_version: schemaVersion,
    };
    const commit = productCommit ? `commit ${productCommit}, ` : '';
    const text = `ownline ${productVersion} (${commit}schema ${schemaVersion})`;
    process.stdout.write(`${process.argv.includes('--json') ? JSON.stringify(json) : text}\n`);
    process.exit();
  })
  .addHelpText('after', `\nDocuments: ${fileURLToPath(new URL('../../docs/README.md', import.meta.url))}`)
  .showHelpAfterError('(add --help for what this command takes)');

program
  .command('start')
  .description('run the service: API, dashboard and embedded PostgreSQL, until Ctrl-C or a signal')
  .action(async () => {
    await import('#server/main.ts');
  });

program
  .command('database-url')
  .description('the address of the embedded database, for the DATABASE_URL of further processes')
  .option('--json', 'print as JSON', false)
  .action(async (options: { json: boolean }) => {
    const url = await databaseUrlOf(readConfig(loadEnvironment()));
    process.stdout.write(options.json ? `${JSON.stringify({ database_url: url })}\n` : `${url}\n`);
  });

// Loads only the named command: all of them together load the whole server, which takes half a second. A first word that
// is no command, such as an option, loads all, for the help and for the hint after a typo.
const [, , first = ''] = process.argv;
const named = adders[first];
const isHere = program.commands.some((command) => command.name() === first);
const needed = named ? [named] : isHere ? [] : Object.values(adders);
for (const load of needed) (await load())(program, onRuntime);

// The reader may close the pipe early, as in `ownline routes | head`. The service does not end with its reader.
if (first !== 'start')
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${describeCommandError(error)}\n`);
  // The process exits explicitly, because standard input or output that is an unread pipe would keep it alive.
  if (error instanceof InterruptedError) process.exit(error.exitCode);
  process.exitCode = 1;
}
