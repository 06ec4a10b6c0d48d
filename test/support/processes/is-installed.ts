import { execFileSync } from 'node:child_process';

/** Tests whether a program can be run. @param args such as `['--version']` */
export function isInstalled(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
