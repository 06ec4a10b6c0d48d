import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const outputMaxBytes = 16 * 1024 * 1024;

/** Packages that the documented commands expect: systemd, and a client for HTTP. */
const packages = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'ca-certificates',
  'curl',
  'openssl',
  'procps',
  'iproute2',
];

/** A part of the run: commands of documents, followed by a check of their result. */
export interface Step {
  readonly title: string;
  readonly run: (machine: FreshMachine) => Promise<void>;
}

interface Circumstances {
  /** root, if it is left out */
  readonly user?: string;
  /** False leaves only the address 127.0.0.1. */
  readonly network?: boolean;
}

/**
 * A fresh Debian with systemd as its init, made by debootstrap and booted by systemd-nspawn. It shares this machine's
 * network and package sources.
 */
export class FreshMachine {
  readonly root: string;
  readonly #init: ChildProcess;
  readonly #initPid: number;

  private constructor(root: string, init: ChildProcess, initPid: number) {
    this.root = root;
    this.#init = init;
    this.#initPid = initPid;
  }

  static async start(): Promise<FreshMachine> {
    const root = await mkdtemp('/var/tmp/ownline-fresh-machine-');
    const suite =
      /^VERSION_CODENAME=(\w+)$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1] ?? 'stable';
    try {
      await run('debootstrap', ['--variant=minbase', `--include=${packages.join(',')}`, suite, root], {
        timeout: 600_000,
        maxBuffer: outputMaxBytes,
      });
      // mkdtemp makes a folder that other users, such as the service's, can't enter.
      await chmod(root, 0o755);
      await cp('/etc/resolv.conf', join(root, 'etc/resolv.conf'));
      await writeFile(join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
      if (authorities !== undefined) await cp(authorities, join(root, authoritiesInside));
      // The machine is deleted after the run, so no write has to survive a power loss.
      await writeFile(join(root, 'etc/dpkg/dpkg.cfg.d/no-sync'), 'force-unsafe-io\n');
      const init = spawn(
        'systemd-nspawn',
        ['--quiet', `--directory=${root}`, '--register=no', '--keep-unit', '--boot', '--console=pipe'],
        { stdio: 'ignore' },
      );
      return new FreshMachine(root, init, await pidOfInit(init));
    } catch (error) {
      await rm(root, { recursive: true, force: true });
      throw error;
    }
  }

  /** Runs a script in the user's home, until its first failing command. @throws Error with the script's output */
  async run(script: string, { user = 'root', network = true }: Circumstances = {}): Promise<string> {
    const words = [
      ...['nsenter', '--target', String(this.#initPid), '--mount', '--uts', '--ipc', '--pid'],
      ...(network ? [] : ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']),
      ...['env', '-i', ...environment, 'runuser', '--user', user, '--'],
      ...['bash', '--norc', '-euo', 'pipefail', '-c', `export HOME=~${user}\ncd\n${script}`],
    ];
    try {
      const { stdout } = await run(words[0] ?? '', words.slice(1), {
        timeout: 600_000,
        maxBuffer: outputMaxBytes,
      });
      return stdout;
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
      throw new Error(`${script}\n--- failed with\n${stdout.slice(-4_000)}${stderr.slice(-4_000)}`, {
        cause: error,
      });
    }
  }

  /** Powers the machine off and deletes it. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#init.once('exit', resolve));
    const killer = setTimeout(() => this.#init.kill('SIGKILL'), 60_000);
    await this.run('systemctl poweroff').catch(() => this.#init.kill('SIGKILL'));
    await ended;
    clearTimeout(killer);
    await rm(this.root, { recursive: true, force: true });
  }
}

/** Extra certificate authorities for the npm registry, if this machine has some. */
const authorities = process.env.NODE_EXTRA_CA_CERTS;
const authoritiesInside = '/etc/ssl/certs/of-the-registry.pem';

const environment = [
  'LANG=C.UTF-8',
  'DEBIAN_FRONTEND=noninteractive',
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ...(authorities === undefined ? [] : [`NODE_EXTRA_CA_CERTS=${authoritiesInside}`]),
];

/** Finds the init of the machine: the first child of systemd-nspawn. */
async function pidOfInit(nspawn: ChildProcess): Promise<number> {
  const deadlineMs = performance.now() + 30_000;
  while (performance.now() < deadlineMs) {
    if (nspawn.exitCode !== null)
      throw new Error('systemd-nspawn ended. Run it as root, on a machine with cgroups.');
    const children = await readFile(`/proc/${nspawn.pid}/task/${nspawn.pid}/children`, 'utf8').catch(
      () => '',
    );
    for (const pid of children.split(' ').filter(Boolean)) {
      const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
      if (name.trim() === 'systemd') return Number(pid);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('systemd did not start within 30 s.');
}
