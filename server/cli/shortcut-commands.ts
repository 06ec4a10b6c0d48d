import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import type { FileForm } from '#contract/setup.ts';
import { type ExportedShortcut, exportShortcuts } from '#shortcut/export-shortcuts.ts';
import { type ClaimedDevice, CommandError, claimDevice } from '#simulated-phone/device-client.ts';
import { resolveSecretOptions, secretOptionHint } from './command-context.ts';

interface ExportOptions {
  readonly to: string;
  readonly setupUrl?: string;
  readonly ios: '27' | '26';
  readonly xml: boolean;
  readonly json: boolean;
}

export function addShortcutCommands(program: Command): void {
  const shortcut = program.command('shortcut').description('the shortcuts that an iPhone runs');

  shortcut
    .command('export')
    .description('write both shortcuts as unsigned files, and say how to sign them on a Mac')
    .requiredOption('--to <folder>', 'folder for the files; it is made where it is missing')
    .option(
      '--setup-url <url>',
      `setup link whose address and device token are written into the files, or - for standard input; ${secretOptionHint}. Without it the iPhone asks for a setup code at the import, which has both`,
    )
    .addOption(
      new Option(
        '--ios <version>',
        '27: the automations are in the files; 26: for iOS 17 to 26, without them',
      )
        .choices(['27', '26'])
        .default('27'),
    )
    .option('--xml', 'write XML, which people can read, instead of the binary form', false)
    .option('--json', 'print as JSON', false)
    .action(async (options: ExportOptions) => {
      const [setupUrl] = options.setupUrl === undefined ? [] : await resolveSecretOptions([options.setupUrl]);
      const device = setupUrl === undefined ? undefined : await claimDevice(setupUrl);
      const form = options.ios === '27' ? 27 : 26;
      const files = await exportShortcuts(options.to, options.xml ? 'xml' : 'binary', form, device).catch(
        (error: Error) => {
          throw new CommandError(`The files can't be written to ${options.to}: ${error.message}`);
        },
      );
      process.stdout.write(
        options.json ? `${JSON.stringify(asJson(files, device))}\n` : asText(files, form, device),
      );
    });
}

/** `shortcuts sign` names the shortcut after the file, so the signed file keeps the file's name. */
const signCommandOf = ({ path }: ExportedShortcut) =>
  `shortcuts sign --mode anyone --input "${basename(path)}" --output "signed/${basename(path)}"`;

function asJson(files: readonly ExportedShortcut[], device: ClaimedDevice | undefined) {
  return {
    files: files.map((file) => ({ ...file, sign_command: signCommandOf(file) })),
    has_token: device !== undefined,
    phone_number: device?.phoneNumber ?? '',
    server: device?.server ?? '',
  };
}

function asText(
  files: readonly ExportedShortcut[],
  form: FileForm,
  device: ClaimedDevice | undefined,
): string {
  return [
    ...files.map(({ path }) => `wrote ${path}`),
    '',
    'An iPhone takes signed files only. Copy both to a Mac that is signed in to iCloud and run there, in their folder:',
    '',
    '  mkdir -p signed',
    ...files.map((file) => `  ${signCommandOf(file)}`),
    '',
    ...(form === 27
      ? ['The Mac needs macOS 27: an older one leaves out the automations, without a word.', '']
      : []),
    ...(device ? withToken(device) : withoutToken),
    '',
  ].join('\n');
}

function withToken({ phoneNumber, server }: ClaimedDevice): string[] {
  return [
    `The files hold the device token of ${phoneNumber}: they can send as this number. Share them with this iPhone only, by`,
    'AirDrop for example, never as an iCloud link, and delete them afterwards. Signing passes them to Apple.',
    ...(server.startsWith('https://')
      ? []
      : [`An iPhone needs an https address, and ${server} is none: set BASE_URL.`]),
  ];
}

const withoutToken = [
  'The files hold no address and no token: the iPhone asks for the setup code at the import, which has both. They can be',
  'published, as they are or as an iCloud link (in Shortcuts: Share, Copy iCloud Link). docs/iphone.md has the steps of a release.',
];
