import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endGroup, endStrays } from './end-processes.ts';
import { type ProcessEnd, type ProcessResult, readResults } from './read-results.ts';

/** Without cache and options a process needs a second of CPU more, to compile all modules and collect garbage. */
const compileCache = fileURLToPath(new URL('../../../node_modules/.cache/node-compile', import.meta.url));
const nodeOptions = ['--max-semi-space-size=64'];
const entry = fileURLToPath(new URL('load-files.ts', import.meta.url));
const testOptions = ['--test', '--test-isolation=none', '--test-force-exit', '--test-timeout=240000'];

interface ProcessRun {
  readonly files: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  readonly options: readonly string[];
  /** New folder that becomes the TMPDIR of the process. */
  readonly folder: string;
  readonly limitMs: number;
  readonly ending: AbortSignal;
  /** undefined if the process writes to the terminal itself. */
  readonly print: ((text: string) => void) | undefined;
}

/** Result of a process, with the processes that it left. */
export interface RunResult extends ProcessResult {
  /** Command lines of processes that the run left behind; they were ended. */
  readonly left: readonly string[];
}

/**
 * Runs test files, one after the other, in a new process group and temporary folder. At the end the group is ended, and
 * so are processes outside it that name the folder, such as the PostgreSQL of a killed service. An open handle of a
 * failed test does not keep the process running. A test that hangs ends at the limit.
 */
export async function runProcess(run: ProcessRun): Promise<RunResult> {
  const { files, settings, options, folder, limitMs, ending, print } = run;
  const beganMs = performance.now();
  await mkdir(folder);
  // If root runs the tests, PostgreSQL runs as another user, who has to write to the folder.
  await chmod(folder, 0o1777);
  const lines = join(folder, 'results.jsonl');
  const reporters = [
    ...['--test-reporter=#test/support/runner/spec-reporter.ts', '--test-reporter-destination=stdout'],
    ...['--test-reporter=#test/support/runner/file-reporter.ts', `--test-reporter-destination=${lines}`],
  ].map((option) => option.replace('#test/', new URL('../../', import.meta.url).href));
  const child = spawn(process.execPath, [...nodeOptions, ...testOptions, ...reporters, ...options, entry], {
    stdio: ['ignore', print ? 'pipe' : 'inherit', print ? 'pipe' : 'inherit'],
    env: {
      NODE_COMPILE_CACHE: compileCache,
      ...process.env,
      ...settings,
      TMPDIR: folder,
      TEST_FILES: JSON.stringify(files.map((file) => resolve(file))),
    },
    detached: true,
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => output.push(text));
  }
  let ended: ProcessEnd = 'exit';
  const end = (why: ProcessEnd) => {
    if (ended === 'exit') ended = why;
    if (child.pid !== undefined) endGroup(child.pid);
  };
  const onEnding = () => end('run');
  const timer = setTimeout(() => end('limit'), limitMs);
  ending.addEventListener('abort', onEnding);
  if (ending.aborted) onEnding();
  const closed = once(child, 'close');
  // Waits for `exit`, not `close`, because processes that were left behind may keep the output open.
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  ending.removeEventListener('abort', onEnding);
  const left = child.pid === undefined ? [] : await endStrays(child.pid, folder);
  await closed;
  print?.(output.join(''));
  const text = await readFile(lines, 'utf8').catch(() => '');
  await rm(folder, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined);
  const seconds = (performance.now() - beganMs) / 1_000;
  const isFiltered = options.some((option) => /^--test-(name-pattern|skip-pattern|only)/.test(option));
  return {
    ...readResults(files, text, { ended, code, seconds, isFiltered }),
    left: ended === 'exit' ? left : [],
  };
}
