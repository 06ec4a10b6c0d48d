import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { PhonesCommand, PhonesReport } from './phones.ts';
import type { HandOuts } from './report-hand-outs.ts';

type Counts = Omit<Extract<PhonesReport, { kind: 'counts' }>, 'kind'>;

/** Raw phones in a child process, so that their CPU is counted apart. */
export class PhoneFleet {
  readonly #child: ChildProcess;
  #counted: PromiseWithResolvers<Counts> | undefined;

  constructor(onHandOuts: (handOuts: HandOuts) => void) {
    this.#child = fork(fileURLToPath(new URL('./phones.ts', import.meta.url)));
    this.#child.on('message', (report: PhonesReport) => {
      if (report.kind === 'hand_outs') onHandOuts(report);
      else this.#counted?.resolve(report);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  connect(origin: string, deviceTokens: readonly string[]): void {
    this.#command({ do: 'connect', origin, deviceTokens });
  }

  /** Ends all polls. The phones keep their sessions. */
  switchOff(): void {
    this.#command({ do: 'switch_off' });
  }

  switchOn(): void {
    this.#command({ do: 'switch_on' });
  }

  /** Phones that wait for an answer, and the sums of unavailable answers, lost connections and stops. */
  count(): Promise<Counts> {
    this.#counted = Promise.withResolvers();
    this.#command({ do: 'count' });
    return this.#counted.promise;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.disconnect();
    await exited;
  }

  #command(command: PhonesCommand): void {
    this.#child.send(command);
  }
}
