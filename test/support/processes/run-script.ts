import { spawn } from 'node:child_process';
import { repository } from './spawned-service.ts';

/** Runs a bash script in the repository, with the command `ownline` in its PATH. Its standard input gets a line once the output shows `readyWhen`. @returns the output */
export function runScript(script: string, readyWhen = /./): Promise<string> {
  const child = spawn('bash', ['-c', script], {
    cwd: repository,
    env: { ...process.env, PATH: `${repository}/bin:${process.env.PATH}` },
    stdio: 'pipe',
    timeout: 240_000,
  });
  // The error is ignored: a script that fails early may end before the line is written.
  child.stdin.on('error', () => undefined);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (readyWhen.test(output)) child.stdin.end('\n');
    });
  }
  return new Promise((resolve, reject) => {
    child.on('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`the script ended with ${code}:\n${output}`)),
    );
  });
}
