import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import type { Served } from '../serve.ts';

const programs = {
  bearerbox: '/usr/sbin/bearerbox',
  smsbox: '/usr/sbin/smsbox',
  fakesmsc: '/usr/lib/kannel/test/fakesmsc',
};

export interface Kannel extends Omit<Served, 'pid'> {
  /** A GET to Kannel's sendsms as raw HTTP. */
  readonly request: (from: string, to: string, text: string) => string;
  /** Messages that the fake SMSC has got so far. */
  readonly countHandedOut: () => Promise<number>;
}

/**
 * The yardstick of benchmark P3: Kannel's sendsms with a file store, which Kannel writes every ten seconds without
 * fsync. Messages go on to the fake SMSC of its package.
 * @returns undefined where Kannel is not installed
 */
export async function startKannel(folder: string): Promise<Kannel | undefined> {
  if (!Object.values(programs).every((program) => existsSync(program))) return undefined;
  const ports = {
    admin: await freePort(),
    boxes: await freePort(),
    sends: await freePort(),
    smsc: await freePort(),
  };
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'kannel.conf');
  await writeFile(file, configuration(folder, ports));
  const children: ChildProcess[] = [];
  const start = (program: string, args: readonly string[]) => {
    children.push(spawn(program, args, { cwd: folder, stdio: 'ignore' }));
  };
  const answers = (port: number) => () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  start(programs.bearerbox, [file]);
  await until('bearerbox answers', answers(ports.admin));
  start(programs.smsbox, [file]);
  start(programs.fakesmsc, ['-H', '127.0.0.1', '-r', String(ports.smsc), '-m', '1', '100 200 text hello']);
  await until('smsbox answers', answers(ports.sends));
  return {
    origin: `http://127.0.0.1:${ports.sends}`,
    request: (from, to, text) =>
      `GET /cgi-bin/sendsms?username=bench&password=bench&from=${encodeURIComponent(from)}` +
      `&to=${encodeURIComponent(to)}&text=${encodeURIComponent(text)} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`,
    countHandedOut: async () => {
      const status = await fetch(`http://127.0.0.1:${ports.admin}/status.xml?password=bench`);
      return Number(/<sms>.*?<sent><total>(\d+)/s.exec(await status.text())?.[1]);
    },
    stop: async () => {
      for (const child of children.reverse()) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const exited = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        await exited;
      }
    },
  };
}

function configuration(
  folder: string,
  ports: { readonly admin: number; readonly boxes: number; readonly sends: number; readonly smsc: number },
): string {
  return `group = core
admin-port = ${ports.admin}
admin-password = bench
admin-allow-ip = "127.0.0.1"
smsbox-port = ${ports.boxes}
box-allow-ip = "127.0.0.1"
store-type = file
store-location = "${join(folder, 'kannel.store')}"
log-file = "${join(folder, 'bearerbox.log')}"
log-level = 4

group = smsc
smsc = fake
smsc-id = FAKE
port = ${ports.smsc}
connect-allow-ip = 127.0.0.1

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${ports.sends}
log-file = "${join(folder, 'smsbox.log')}"
log-level = 4

group = sendsms-user
username = bench
password = bench
concatenation = true
max-messages = 3
`;
}
