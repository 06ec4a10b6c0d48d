import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endGroup, endStrays } from './end-processes.ts';
import type { TestLine } from './file-reporter.ts';

/** Without them a file takes a second of CPU more to load the service: Node compiles all modules, and collects garbage meanwhile. */
const compileCache = fileURLToPath(new URL('../../../node_modules/.cache/node-compile', import.meta.url));
const nodeOptions = ['--max-semi-space-size=64'];

/** How a file ended: by itself, past its limit, or with the run. */
export type FileEnd = 'exit' | 'limit' | 'run';

export interface FileResult {
  readonly file: string;
  readonly ended: FileEnd;
  readonly code: number | null;
  readonly seconds: number;
  /** Of its node process; 0 where it was ended. */
  readonly cpuSeconds: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Tests that failed, and those that had begun when the file was ended. */
  readonly failed: readonly string[];
  readonly unfinished: readonly string[];
  /** Processes that it left behind, by their command lines. They are ended. */
  readonly left: readonly string[];
}

interface FileRun {
  readonly file: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly options: readonly string[];
  /** A folder that is not there yet: the file's TMPDIR. */
  readonly folder: string;
  readonly limitMs: number;
  readonly ending: AbortSignal;
  /** undefined: the file writes to the terminal itself. */
  readonly print: ((text: string) => void) | undefined;
}

/**
 * Runs one test file in a process group of its own, with a temporary folder of its own, and ends with it all that it
 * started: the group, and processes outside it that name that folder, such as the PostgreSQL of a service that was
 * killed. A handle that a failed test left open does not keep the file running; a test that hangs ends at the limit.
 */
export async function runFile(run: FileRun): Promise<FileResult> {
  const { file, settings, options, folder, limitMs, ending, print } = run;
  const beganMs = performance.now();
  await mkdir(folder);
  // PostgreSQL has a user of its own where root runs the tests.
  await chmod(folder, 0o1777);
  const lines = join(folder, 'results.jsonl');
  const reporters = [
    ...['--test-reporter=#test/support/runner/spec-reporter.ts', '--test-reporter-destination=stdout'],
    ...['--test-reporter=#test/support/runner/file-reporter.ts', `--test-reporter-destination=${lines}`],
  ].map((option) => option.replace('#test/', new URL('../../', import.meta.url).href));
  const child = spawn(
    process.execPath,
    [...nodeOptions, '--test-force-exit', '--test-timeout=240000', ...reporters, ...options, file],
    {
      stdio: ['ignore', print ? 'pipe' : 'inherit', print ? 'pipe' : 'inherit'],
      env: { NODE_COMPILE_CACHE: compileCache, ...process.env, ...settings, TMPDIR: folder },
      detached: true,
    },
  );
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => output.push(text));
  }
  let ended: FileEnd = 'exit';
  const end = (why: FileEnd) => {
    if (ended === 'exit') ended = why;
    if (child.pid !== undefined) endGroup(child.pid);
  };
  const onEnding = () => end('run');
  const timer = setTimeout(() => end('limit'), limitMs);
  ending.addEventListener('abort', onEnding);
  if (ending.aborted) onEnding();
  const closed = once(child, 'close');
  // Its own end and not that of its output: what it left behind may hold that open.
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  ending.removeEventListener('abort', onEnding);
  const left = child.pid === undefined ? [] : await endStrays(child.pid, folder);
  await closed;
  print?.(output.join(''));
  const read = readLines(await readFile(lines, 'utf8').catch(() => ''));
  await rm(folder, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined);
  const seconds = (performance.now() - beganMs) / 1_000;
  return { file, ended, code, seconds, left: ended === 'exit' ? left : [], ...read };
}

function readLines(text: string): Pick<FileResult, 'counts' | 'cpuSeconds' | 'failed' | 'unfinished'> {
  let cpuSeconds = 0;
  let counts: Readonly<Record<string, number>> = {};
  const failed: string[] = [];
  const open = new Set<string>();
  const suites = new Set<string>();
  for (const one of text.split('\n')) {
    // The last line of a file that was ended may be half of one.
    if (!one.endsWith('}')) continue;
    const line: TestLine = JSON.parse(one);
    if (line.did === 'counted') ({ counts, cpuSeconds } = line);
    else if (line.did === 'began') open.add(line.name);
    else {
      open.delete(line.name);
      if (line.isSuite) suites.add(line.name);
      if (line.did === 'failed') failed.push(line.name);
    }
  }
  // A suite fails with its tests; where its hooks failed there is no test to name.
  const isNamedByTests = (name: string) =>
    suites.has(name) && failed.some((other) => other.startsWith(`${name} › `));
  const isNamedByOpen = (name: string) => [...open].some((other) => other.startsWith(`${name} › `));
  return {
    counts,
    cpuSeconds,
    failed: failed.filter((name) => !isNamedByTests(name)),
    unfinished: [...open].filter((name) => !isNamedByOpen(name)),
  };
}
