import { type Command, Option } from 'commander';
import { listenForEvents } from '#webhook-listener/listen-command.ts';
import { numberFrom, resolveSecretOptions, secretOptionHint } from './command-context.ts';

interface ListenOptions {
  readonly port: number;
  readonly host: string;
  readonly secret: readonly string[];
  readonly status: number;
  readonly count?: number;
  readonly json: boolean;
}

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('try webhooks on your own machine');

  webhook
    .command('listen')
    .description(
      'a receiver that prints each event and whether its signatures verify; ends with Ctrl-C. Start the server with the setting that it prints, then POST /v1/webhooks with its url',
    )
    .requiredOption(
      '--port <port>',
      'where to listen; 0 takes any that is free',
      numberFrom('--port', 0, 65_535),
    )
    .option('--host <address>', 'the address to listen at', '127.0.0.1')
    .addOption(
      new Option(
        '--secret <whsec>',
        `the secret that POST /v1/webhooks showed, or - for standard input; ${secretOptionHint}. Twice, or two with a comma, during a rotation. Without it signatures are not checked`,
      )
        .env('OWNLINE_WEBHOOK_SECRET')
        .argParser((written: string, before: readonly string[] = []) => [...before, ...written.split(',')])
        .default([], 'none'),
    )
    .option('--status <code>', 'what to answer, to see retries', numberFrom('--status', 200, 599), 200)
    .option('--count <requests>', 'end after so many requests', numberFrom('--count', 1, 1_000_000_000))
    .option('--json', 'one JSON value per line', false)
    .action(async (options: ListenOptions) => {
      await listenForEvents({
        host: options.host,
        port: options.port,
        secrets: await resolveSecretOptions(options.secret),
        status: options.status,
        count: options.count,
        write: (line) => process.stdout.write(`${options.json ? JSON.stringify(line) : describe(line)}\n`),
      });
    });
}

function describe(line: Readonly<Record<string, unknown>>): string {
  if (line.did === 'listening') {
    return [
      `listening at ${line.url}`,
      `  Start the server with   ${line.setting}`,
      `  so that it may send there, and make a webhook with the url above.`,
    ].join('\n');
  }
  if (line.did === 'ignored') return `ignored   ${line.method} ${line.url}: events come by POST`;
  const notes = [
    `x-service-signature ${line.service_signature}`,
    `webhook-signature ${line.webhook_signature}`,
    ...(line.repeat === true ? ['a repeat'] : []),
    ...(line.test === true ? ['a test'] : []),
    `answered ${line.answered}`,
  ];
  return `received  ${line.type} ${line.id}\n  ${notes.join(', ')}\n  ${JSON.stringify(line.event)}`;
}
