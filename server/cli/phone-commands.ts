import { type Command, Option } from 'commander';
import { simulatePhone } from '#simulated-phone/simulate-command.ts';
import { numberFrom, resolveSecretOptions, secretOptionHint } from './command-context.ts';

interface SimulateOptions {
  readonly setupUrl: string;
  readonly inbound?: string;
  readonly reply?: string;
  readonly failRate: number;
  readonly count?: number;
  readonly delivered: boolean;
  readonly protocol: boolean;
  readonly json: boolean;
}

export function addPhoneCommands(program: Command): void {
  const phone = program.command('phone').description('simulated phones');

  phone
    .command('simulate')
    .description('a simulated iPhone that runs the shortcuts of `shortcut export`; ends with Ctrl-C')
    .addOption(
      new Option(
        '--setup-url <url>',
        `setup_url from POST /v1/numbers/verify, or - for standard input; ${secretOptionHint}`,
      )
        .env('OWNLINE_SETUP_URL')
        .makeOptionMandatory(),
    )
    .option(
      '--inbound <file>',
      'texts that the phone receives, a line each: {"from": "+14155550101", "text": "Yes"}',
    )
    .option('--reply <text>', 'answer each message that goes out, as the person at the other end would')
    .option(
      '--fail-rate <share>',
      'share of messages that fail, 0 to 1; above 0 it implies --protocol, because a shortcut cannot report a failure',
      numberFrom('--fail-rate', 0, 1),
      0,
    )
    .option('--count <messages>', 'end after so many messages', numberFrom('--count', 1, 1_000_000_000))
    .option('--no-delivered', 'do not report deliveries, as a real shortcut cannot')
    .option('--protocol', 'a plain client of the device protocol instead of the shortcuts', false)
    .option('--json', 'one JSON value per line', false)
    .action(async (options: SimulateOptions) => {
      const [setupUrl = ''] = await resolveSecretOptions([options.setupUrl]);
      await simulatePhone({
        setupUrl,
        inboundFile: options.inbound,
        reply: options.reply,
        failRate: options.failRate,
        count: options.count,
        reportsDelivery: options.delivered,
        isPlainClient: options.protocol,
        write: (line) => process.stdout.write(`${options.json ? JSON.stringify(line) : describe(line)}\n`),
      });
    });
}

/** Formats a phone's action as `sent      id=msg_… to=+14155550101 text="Hello"`. */
function describe({ did, ...details }: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(details).map(
    ([name, value]) => `${name}=${name === 'text' ? JSON.stringify(value) : value}`,
  );
  return `${String(did).padEnd(9)} ${words.join(' ')}`;
}
