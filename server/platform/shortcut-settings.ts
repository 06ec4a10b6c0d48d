import type { SettingReader } from './setting-reader.ts';

export interface ShortcutLinks {
  readonly outbox: string;
  readonly inbound: string;
}

/** A program that signs a shortcut file. `{in}` and `{out}` in its arguments stand for paths. */
export interface SignCommand {
  readonly argv: readonly string[];
  /** The program's environment, without the settings of Ownline. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Variables that a program needs to find its files and an SSH agent. */
const passedVariables = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TMPDIR', 'SSH_AUTH_SOCK'];

/** Checks the address of a shared shortcut. @returns a sentence about the problem; undefined for a valid address */
function shortcutLinkProblem(name: string, url: string): string | undefined {
  if (URL.canParse(url) && new URL(url).protocol === 'https:' && new URL(url).username === '')
    return undefined;
  return `${name} must be an address such as https://www.icloud.com/shortcuts/0123456789abcdef0123456789abcdef, not "${url}".`;
}

/**
 * Reads the links to a pair of shared shortcuts. @returns undefined without links: the setup page then offers another
 * way to install
 */
export function readShortcutLinks(
  settings: SettingReader,
  outboxName: string,
  inboundName: string,
): ShortcutLinks | undefined {
  const outbox = settings.text(outboxName);
  const inbound = settings.text(inboundName);
  for (const [name, url] of Object.entries({ [outboxName]: outbox, [inboundName]: inbound })) {
    const problem = url === undefined ? undefined : shortcutLinkProblem(name, url);
    if (problem !== undefined) settings.problems.push(problem);
  }
  if ((outbox === undefined) !== (inbound === undefined)) {
    settings.problems.push(
      `${outboxName} and ${inboundName} must be set together: a phone needs both shortcuts.`,
    );
  }
  return outbox !== undefined && inbound !== undefined ? { outbox, inbound } : undefined;
}

/**
 * Parses `ssh-sign {in} "a folder/{out}"` into arguments, without a shell: quotes join words, and nothing is expanded.
 * @returns undefined if a quote is not closed, or `{in}` or `{out}` is missing
 */
export function parseSignCommand(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): SignCommand | undefined {
  const word = /\s*((?:"[^"]*"|'[^']*'|[^\s"'])+)/y;
  const argv: string[] = [];
  while (word.lastIndex < text.trimEnd().length) {
    const written = word.exec(text)?.[1];
    if (written === undefined) return undefined;
    argv.push(written.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  }
  const takes = (placeholder: string) => argv.slice(1).some((argument) => argument.includes(placeholder));
  if (!takes('{in}') || !takes('{out}')) return undefined;
  const passed = passedVariables.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { argv, environment: Object.fromEntries(passed) };
}
