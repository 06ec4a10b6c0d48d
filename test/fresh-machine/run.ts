import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { FreshMachine } from './machine.ts';
import { bringClone, bringReleases } from './releases.ts';
import { steps } from './steps.ts';

/**
 * `npm run fresh-machine`: the commands of docs/operations.md and of README.md on a fresh Debian with systemd
 * (docs/testing.md). It needs root, debootstrap and systemd-container, and takes some minutes.
 */
await checkRequirements();
const machine = await timed('a fresh Debian boots', () => FreshMachine.start());
try {
  await timed('two releases are built', () => bringReleases(machine.root));
  await bringClone(machine.root);
  for (const step of steps) await timed(step.title, () => step.run(machine));
  process.stdout.write(`${steps.length} steps, all as the page says\n`);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await machine.stop();
}

async function timed<T>(title: string, run: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  process.stdout.write(`${title} …`);
  const result = await run();
  process.stdout.write(` ${Math.round((performance.now() - startedMs) / 1_000)} s\n`);
  return result;
}

async function checkRequirements(): Promise<void> {
  const missing = ['debootstrap', 'systemd-nspawn', 'nsenter', 'git'].filter(
    (name) => !['/usr/sbin', '/usr/bin'].some((folder) => existsSync(join(folder, name))),
  );
  const ports = [3000, 80, 443];
  const taken = (await Promise.all(ports.map(isTaken))).flatMap((is, index) => (is ? [ports[index]] : []));
  const problem =
    process.getuid?.() !== 0
      ? 'Run it as root: debootstrap and systemd-nspawn need that.'
      : missing.length > 0
        ? `Install ${missing.join(', ')}: apt-get install debootstrap systemd-container git.`
        : taken.length > 0
          ? `Free the ports ${taken.join(', ')}: the machine shares the network of this one.`
          : undefined;
  if (problem === undefined) return;
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
