import { execFile, spawn } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isInstalled } from '#test/support/processes/is-installed.ts';
import { repository } from '#test/support/processes/spawned-service.ts';

const execute = promisify(execFile);
type Environment = Readonly<Record<string, string>>;

/** A language that has a client. Programs are files of a folder in which the client is installed. */
export interface ClientLanguage {
  readonly name: 'TypeScript' | 'Python';
  readonly ending: 'ts' | 'py';
  /** The word before the name of a code block in its README. */
  readonly block: string;
  readonly readme: string;
  /** Why programs cannot run or be checked on this machine; undefined if they can. */
  readonly whyNotRun: () => string | undefined;
  readonly whyNotChecked: () => string | undefined;
  /** Installs the client in an empty folder. */
  readonly install: (folder: string) => Promise<void>;
  /** Checks the types of all programs of the folder, as strictly as the language can. @throws with the complaints */
  readonly check: (folder: string) => Promise<void>;
  readonly command: string;
  readonly environment: Environment;
}

const pythonPath = join(repository, 'clients/python/src');

export const clientLanguages: readonly ClientLanguage[] = [
  {
    name: 'TypeScript',
    ending: 'ts',
    block: 'ts',
    readme: 'clients/typescript/README.md',
    whyNotRun: () => undefined,
    whyNotChecked: () => undefined,
    install: async (folder) => {
      const cwd = join(repository, 'clients/typescript');
      // Each folder has a build of its own, because test processes run at the same time.
      const built = join(folder, 'built');
      cpSync(join(cwd, 'package.json'), join(built, 'package.json'));
      await run('npm', ['run', '--silent', 'build', '--', '--outDir', join(built, 'dist')], { cwd });
      const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
      const { stdout } = await execute('npm', pack, { cwd: built });
      const target = join(folder, 'node_modules/ownline-client');
      mkdirSync(target, { recursive: true });
      await execute('tar', ['xzf', join(folder, stdout.trim()), '--strip-components=1', '-C', target]);
      for (const name of ['openapi-fetch', 'openapi-typescript-helpers', '@types'])
        symlinkSync(join(repository, 'node_modules', name), join(folder, 'node_modules', name));
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      const compilerOptions = {
        target: 'esnext',
        module: 'nodenext',
        types: ['node'],
        noEmit: true,
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    },
    check: (folder) => run('npx', ['tsc', '-p', folder], { cwd: repository }),
    command: process.execPath,
    environment: {},
  },
  {
    name: 'Python',
    ending: 'py',
    block: 'python',
    readme: 'clients/python/README.md',
    whyNotRun: () =>
      isInstalled('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))'])
        ? undefined
        : 'there is no python3 here that is 3.11 or newer',
    whyNotChecked: () => (isInstalled('mypy', ['--version']) ? undefined : 'there is no mypy here'),
    install: async () => undefined,
    // Each program is a module of its own, so mypy checks one at a time.
    check: (folder) =>
      run(
        'sh',
        ['-c', 'for program in *.py; do mypy --strict --cache-dir .mypy "$program" || exit 1; done'],
        {
          cwd: folder,
          env: { ...process.env, MYPYPATH: pythonPath },
        },
      ),
    command: 'python3',
    environment: { PYTHONPATH: pythonPath, PYTHONDONTWRITEBYTECODE: '1' },
  },
];

/** Copies the program of a customer, test/clients/program.*, to a folder. */
export function copyProgram({ ending }: ClientLanguage, folder: string): void {
  copyFileSync(join(repository, `test/clients/program.${ending}`), join(folder, `program.${ending}`));
}

/** Starts a program of a folder. `ended` resolves with its output, and rejects if it fails. */
export function startProgram(
  { command, environment, ending }: ClientLanguage,
  { folder, name, args = [], env }: ProgramOptions,
) {
  const child = spawn(command, [`${name}.${ending}`, ...args], {
    cwd: folder,
    env: { ...process.env, ...environment, ...env },
    stdio: 'pipe',
  });
  let output = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      code === 0 || signal === 'SIGTERM'
        ? resolve(output)
        : reject(new Error(`${name}.${ending} ended with ${code}:\n${output}${complaints}`)),
    );
  });
  // A failure counts where `ended` is awaited.
  ended.catch(() => undefined);
  return { child, output: () => output, complaints: () => complaints, ended };
}

/** The values that a program printed, one on each line. */
export const linesOf = (output: string): unknown[] =>
  output
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown);

interface ProgramOptions {
  readonly folder: string;
  /** The name of the file without its ending. */
  readonly name: string;
  readonly args?: readonly string[];
  readonly env: Environment;
}

async function run(
  program: string,
  args: string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<void> {
  await execute(program, args, options).catch((error: { stdout?: string }) => {
    throw new Error(`${program} ${args[0]} complains:\n${error.stdout}`, { cause: error });
  });
}
