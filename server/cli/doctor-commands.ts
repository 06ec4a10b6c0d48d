import { styleText } from 'node:util';
import { type Command, InvalidArgumentError } from 'commander';
import { deviceUrlOf } from '#server/devices/setup-link.ts';
import { ConfigError } from '#server/platform/start-error.ts';
import { readCommandConfig } from './command-context.ts';
import { type Check, failed, ok, warning } from './doctor/check.ts';
import { checkBackups } from './doctor/check-backups.ts';
import { checkDatabase } from './doctor/check-database.ts';
import { checkDisk, checkFiles } from './doctor/check-files.ts';
import { checkEgress, checkMail } from './doctor/check-outside.ts';
import { checkPublicAddress } from './doctor/check-public-address.ts';
import { checkService } from './doctor/check-service.ts';
import { checkShortcuts } from './doctor/check-shortcuts.ts';

interface DoctorOptions {
  /** True skips the check of a held request. */
  readonly quick: boolean;
  /** The URL to check instead of APP_URL, BASE_URL and DEVICE_URL, if given. */
  readonly url: string | undefined;
  readonly egressUrl: string | undefined;
  readonly sendMail: string | undefined;
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'checks settings, database, disk, clock, mail and the public address as a phone meets it; changes nothing',
    )
    .option('--quick', 'leaves out the held poll, which takes DEVICE_HOLD_SECONDS', false)
    .option('--url <address>', 'checks this address instead of APP_URL, BASE_URL and DEVICE_URL', readAddress)
    .option(
      '--egress-url <address>',
      'sends an outgoing request to this address, as to a webhook',
      readAddress,
    )
    .option('--send-mail <address>', 'sends one mail to this address')
    .option('--json', 'prints one JSON value at the end', false)
    .action(async ({ json, ...options }: DoctorOptions & { readonly json: boolean }) => {
      const checks: Check[] = [];
      for await (const check of runDoctor(options)) {
        checks.push(check);
        if (!json) process.stdout.write(lineOf(check));
      }
      if (json) process.stdout.write(`${JSON.stringify({ checks })}\n`);
      else process.stdout.write(summaryOf(checks));
      if (checks.some(({ state }) => state === 'failed')) process.exitCode = 1;
    });
}

const signs = { ok: '✓', warning: '!', failed: '✗' } as const;
const colours = { ok: 'green', warning: 'yellow', failed: 'red' } as const;

function lineOf({ name, state, message, fix }: Check): string {
  const sign = styleText(colours[state], signs[state], { stream: process.stdout });
  const text = `${sign} ${name}: ${message}\n`;
  return fix === null ? text : `${text}    ${fix}\n`;
}

function summaryOf(checks: readonly Check[]): string {
  const count = (state: Check['state']) => checks.filter((check) => check.state === state).length;
  return `\n${count('failed')} failed, ${count('warning')} warnings, ${count('ok')} ok\n`;
}

function readAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return text;
  throw new InvalidArgumentError('This option needs an address such as https://texts.example.com.');
}

/**
 * Runs all checks of `ownline doctor`, and yields each as soon as it is done. It changes
 * nothing.
 */
async function* runDoctor(options: DoctorOptions): AsyncGenerator<Check> {
  const { config, addressSource, checks } = await checkSettings();
  yield* checks;
  if (!config) return;
  const service = await checkService(config, addressSource);
  yield* service.checks;
  const database = await checkDatabase(config);
  yield* database.checks;
  yield await checkDisk('disk', 'DATA_DIR', config.dataDir);
  yield* await checkFiles(config);
  yield* checkBackups(config, database.lastBackups, database.serviceMs);
  yield* checkShortcuts(config);
  yield await checkMail(config, options.sendMail);
  yield await checkEgress(config, options.egressUrl);
  if (!service.isRunning) {
    yield warning(
      'address',
      'The public address was not checked, because the service does not run.',
      'Start it, and run this again.',
    );
    return;
  }
  // DEVICE_URL is checked as a phone of the oldest team calls it.
  const deviceUrls = database.routingTag === undefined ? [] : [deviceUrlOf(config, database.routingTag)];
  const urls =
    options.url === undefined ? new Set([config.appUrl, config.baseUrl, ...deviceUrls]) : [options.url];
  for (const url of urls) {
    yield* checkPublicAddress({
      config,
      url: url.replace(/\/+$/, ''),
      secrets: database.secrets,
      serviceMs: database.serviceMs,
      isQuick: options.quick,
    });
  }
}

/** Reads the settings, and the address that the service recorded. @returns no config if a setting is invalid */
async function checkSettings() {
  try {
    const { config, addressSource } = await readCommandConfig();
    const misspelt = config.misspelt.map((sentence) =>
      warning('settings', sentence, 'Correct the name, or remove the variable.'),
    );
    return {
      config,
      addressSource,
      checks: misspelt.length > 0 ? misspelt : [ok('settings', 'All settings can be read.')],
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = error.problems.map((problem) =>
      failed('settings', problem, 'Correct the setting (docs/configuration.md).'),
    );
    return { config: undefined, addressSource: 'default' as const, checks };
  }
}
