import type { FileForm, SetupRefusal, SetupState, SetupTick } from '#contract/setup.ts';
import { readError } from '#web/api/api-answer.ts';

/** Pause after the first failed request for the state; each further failure doubles it. */
const retryMs = 1_000;
const retryMaxMs = 15_000;

/** A refused request: with a reason for which the page has words, or else with the server's English message. */
interface Refusal {
  readonly path: string;
  readonly reason: SetupRefusal | 'connection' | undefined;
  readonly message: string;
}

export interface SetupSnapshot {
  /** Undefined until the first answer. */
  readonly state: SetupState | undefined;
  /** `closed`: this page has closed the link. `over`: the link no longer works. */
  readonly phase: 'open' | 'closed' | 'over';
  readonly isConnected: boolean;
  /** The request that is in progress. */
  readonly busy: string | undefined;
  /** The request that was refused last. */
  readonly refused: Refusal | undefined;
}

/**
 * Follows the state of a setup link by a long poll, and sends the person's actions. After a lost connection it repeats
 * the request, and at once when the page becomes visible again.
 */
export class SetupConnection {
  /** The address of the page. */
  readonly path = location.pathname.replace(/\/$/, '');
  readonly #listeners = new Set<() => void>();
  /** Ticks that are being stored, one after the other, so that the last one wins. */
  readonly #ticks = new Map<SetupTick, boolean>();
  #keeping: Promise<unknown> = Promise.resolve();
  #received: SetupState | undefined;
  #snapshot: SetupSnapshot = {
    state: undefined,
    phase: 'open',
    isConnected: true,
    busy: undefined,
    refused: undefined,
  };
  #turn = new AbortController();
  #isFinishing = false;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): SetupSnapshot => this.#snapshot;

  /** Follows the state until the link is over. */
  async follow(): Promise<void> {
    const wake = () => this.#turn.abort();
    addEventListener('online', wake);
    addEventListener('offline', wake);
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && wake());
    let failures = 0;
    while (this.#snapshot.phase === 'open') {
      this.#turn = new AbortController();
      const { signal } = this.#turn;
      try {
        const seen = this.#received?.version ?? '';
        const response = await fetch(`${this.path}/state?seen=${encodeURIComponent(seen)}`, { signal });
        if (response.status === 404) this.#leave();
        else if (response.ok) {
          failures = 0;
          if (response.status === 200) this.#receive((await response.json()) as SetupState);
          const { refused } = this.#snapshot;
          this.#change({
            isConnected: true,
            refused: refused?.reason === 'connection' ? undefined : refused,
          });
        } else throw new Error(`status ${response.status}`);
        await pause(Number(response.headers.get('retry-after') ?? 0) * 1_000, signal);
      } catch {
        if (signal.aborted) continue;
        failures += 1;
        // The first failure may be that of a request that was in progress while the page slept.
        if (failures > 1) this.#change({ isConnected: false });
        await pause(Math.min(retryMs * 2 ** (failures - 1), retryMaxMs), signal);
      }
    }
  }

  claim = (form: FileForm) => this.#post('claim', { form });
  chooseForm = (form: FileForm) => this.#post('form', { form });
  sendTest = (to: string, after: number) => this.#post('test-text', { to, after });
  startLockTest = () => this.#post('lock-test', {});

  /** Stores a tick. The page shows it at once, and undoes it if it could not be stored. */
  async tick(name: SetupTick, made: boolean): Promise<void> {
    this.#ticks.set(name, made);
    this.#receive(this.#received);
    this.#keeping = this.#keeping.then(() => this.#post('ticks', { name, made }));
    await this.#keeping;
    if (this.#ticks.get(name) === made) this.#ticks.delete(name);
    this.#receive(this.#received);
  }

  /** Closes the link. */
  async finish(): Promise<void> {
    this.#isFinishing = true;
    if (await this.#post('done', {})) this.#change({ phase: 'closed' });
    this.#isFinishing = false;
  }

  /** Notes that the link has ended. While this page closes the link, only the answer to its own request counts. */
  #leave(isFinish = false): void {
    if (this.#snapshot.phase === 'open' && this.#isFinishing === isFinish) this.#change({ phase: 'over' });
  }

  /** @returns true if the request was accepted */
  async #post(path: string, body: unknown): Promise<boolean> {
    this.#change({ busy: path, refused: undefined });
    const lost: Refusal = { path, reason: 'connection', message: '' };
    const refused = await this.#send(path, body).catch(() => lost);
    this.#change({ busy: undefined, refused });
    return refused === undefined && this.#snapshot.phase === 'open';
  }

  async #send(path: string, body: unknown): Promise<Refusal | undefined> {
    const response = await fetch(`${this.path}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status === 404) this.#leave(path === 'done');
    else if (response.ok) this.#receive((await response.json()) as SetupState);
    else {
      const { message, reason } = readError(await response.text());
      return { path, reason: reason as SetupRefusal | undefined, message: String(message) };
    }
    return undefined;
  }

  /** Takes a state of the server, with the ticks that are being stored. */
  #receive(state: SetupState | undefined): void {
    this.#received = state;
    if (!state) return;
    const checks = state.checks.map((check) => {
      const made = this.#ticks.get(check.name as SetupTick);
      return made === undefined ? check : { ...check, state: made ? ('done' as const) : ('open' as const) };
    });
    this.#change({ state: { ...state, checks } });
  }

  #change(change: Partial<SetupSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const listener of this.#listeners) listener();
  }
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (ms === 0 || signal.aborted) return resolve();
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
