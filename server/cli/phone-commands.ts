import type { Command } from 'commander';

export function addPhoneCommands(program: Command): void {
  program.command('phone').description('simulated iPhones');
}
