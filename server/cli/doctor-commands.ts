import { styleText } from 'node:util';
import { type Command, InvalidArgumentError } from 'commander';
import type { Check } from './doctor/check.ts';
import { type DoctorOptions, runDoctor } from './doctor/run-doctor.ts';

export function addDoctorCommands(program: Command): void {
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
