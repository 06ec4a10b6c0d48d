import { Command } from 'commander';
import { schemaVersion } from '#server/database/schema-version.ts';
import { loadEnvironment, readConfig } from '#server/platform/config.ts';
import { productCommit } from '#server/platform/process/product-commit.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { addBackupCommands } from './backup-commands.ts';
import { addClockCommands } from './clock-commands.ts';
import { databaseUrlOf, describeCommandError } from './command-context.ts';
import { addDemoCommands } from './demo-commands.ts';
import { addDoctorCommands } from './doctor-commands.ts';
import { addErasureCommands } from './erasure-commands.ts';
import { InterruptedError } from './interruption.ts';
import { addKeyCommands } from './key-commands.ts';
import { addLinkCommands } from './link-commands.ts';
import { addNumberCommands } from './number-commands.ts';
import { addPhoneCommands } from './phone-commands.ts';
import { addRestoreCommands } from './restore-commands.ts';
import { addRouteCommands } from './route-commands.ts';
import { addShortcutCommands } from './shortcut-commands.ts';
import { addTeamCommands } from './team-commands.ts';
import { addWebhookCommands } from './webhook-commands.ts';

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
  .showHelpAfterError('(add --help for what this command takes)');

addBackupCommands(program);
addRestoreCommands(program);
addClockCommands(program);
addDoctorCommands(program);
addTeamCommands(program);
addKeyCommands(program);
addLinkCommands(program);
addNumberCommands(program);
addPhoneCommands(program);
addShortcutCommands(program);
addWebhookCommands(program);
addErasureCommands(program);
addDemoCommands(program);
addRouteCommands(program);
program
  .command('database-url')
  .description('the address of the embedded database, for the DATABASE_URL of further processes')
  .option('--json', 'print as JSON', false)
  .action(async (options: { json: boolean }) => {
    const url = await databaseUrlOf(readConfig(loadEnvironment()));
    process.stdout.write(options.json ? `${JSON.stringify({ database_url: url })}\n` : `${url}\n`);
  });

// The reader may close the pipe early, as in `ownline routes | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${describeCommandError(error)}\n`);
  // The process exits explicitly, because standard input or output that is an unread pipe would keep it alive.
  if (error instanceof InterruptedError) process.exit(error.exitCode);
  process.exitCode = 1;
}
