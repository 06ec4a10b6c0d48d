/** A call of *Ownline Inbound* that the server got. */
export interface QueuedCall {
  readonly atSeconds: number;
  readonly text: string;
  readonly run: string;
  /** `yes` if the run has called the server before. */
  readonly again: string;
}

type Event =
  | { readonly shortcut: 'Inbound'; readonly automation: string; readonly text: string }
  | { readonly shortcut: 'Outbox'; readonly automation: string };

/** If the server is away, *Ownline Inbound* makes up to 10 calls, 15 s apart (specification section 11.11). */
const callsMax = 10;
const secondsBetweenCalls = 15;
/** Seconds from a call's answer to the end of its run. */
const secondsAfterCall = 0.7;
/** A run of *Ownline Outbox* that finds another running loop ends after two polls. */
const starterSeconds = 2;
/** Seconds after its last run in which an automation that fires again is dropped, by the state of that run. */
const rateLimitSeconds = { ended: 1, unfinished: 5 };

/**
 * A model of the queue in which an iPhone keeps the events of automations. One run is in the slot of its shortcut,
 * and other events of the shortcut are stored. When the run in the slot ends, the oldest stored event starts, and
 * only that one. A run that is not in the slot starts nothing when it ends.
 */
export class AutomationQueue {
  readonly calls: QueuedCall[] = [];
  /** Events that iOS dropped, because their automation had fired too recently. */
  readonly dropped: Event[] = [];
  readonly #runSeconds: number;
  readonly #isServerAway: (atSeconds: number) => boolean;
  readonly #timers: { readonly at: number; readonly act: () => void }[] = [];
  readonly #stored: Event[] = [];
  readonly #lastRuns = new Map<string, { readonly at: number; hasEnded: boolean }>();
  #now = 0;
  #runs = 0;
  #slot: Event | undefined;
  #isLooping = false;

  constructor(runSeconds: number, isServerAway: (atSeconds: number) => boolean = () => false) {
    this.#runSeconds = runSeconds;
    this.#isServerAway = isServerAway;
  }

  /** A text arrives, and this many automations pass it on. */
  receive(atSeconds: number, text: string, automations: number): this {
    for (let n = 0; n < automations; n += 1)
      this.#fireAt(atSeconds, { shortcut: 'Inbound', automation: `text ${n}`, text });
    return this;
  }

  /** An automation that starts *Ownline Outbox* fires. */
  startOutbox(atSeconds: number, automation: string): this {
    return this.#fireAt(atSeconds, { shortcut: 'Outbox', automation });
  }

  /** The loop of *Ownline Outbox* ends, and iOS does not notice. */
  endOutbox(atSeconds: number): this {
    return this.#at(atSeconds, () => {
      this.#isLooping = false;
    });
  }

  /** Runs the model to its end. @returns the calls that the server got */
  run(): readonly QueuedCall[] {
    for (let next = this.#timers.shift(); next; next = this.#timers.shift()) {
      this.#now = next.at;
      next.act();
    }
    return this.calls;
  }

  #at(at: number, act: () => void): this {
    const later = this.#timers.findIndex((timer) => timer.at > at);
    this.#timers.splice(later === -1 ? this.#timers.length : later, 0, { at, act });
    return this;
  }

  #fireAt(at: number, event: Event): this {
    return this.#at(at, () => {
      const last = this.#lastRuns.get(event.automation);
      const pause = last?.hasEnded ? rateLimitSeconds.ended : rateLimitSeconds.unfinished;
      if (last && this.#now < last.at + pause) this.dropped.push(event);
      else if (this.#slot?.shortcut === event.shortcut) this.#stored.push(event);
      else this.#start(event);
    });
  }

  #start(event: Event): void {
    this.#slot = event;
    this.#lastRuns.set(event.automation, { at: this.#now, hasEnded: false });
    if (event.shortcut === 'Inbound') {
      this.#runs += 1;
      const call = { text: event.text, run: String(this.#runs) };
      this.#callAt(this.#now + this.#runSeconds - secondsAfterCall, event, call, 1);
    } else if (this.#isLooping) {
      this.#at(this.#now + starterSeconds, () => this.#end(event));
    } else {
      this.#isLooping = true;
    }
  }

  #callAt(at: number, event: Event, call: Pick<QueuedCall, 'text' | 'run'>, count: number): void {
    this.#at(at, () => {
      const isAway = this.#isServerAway(at);
      if (!isAway) this.calls.push({ ...call, atSeconds: at, again: count > 1 ? 'yes' : 'no' });
      if (isAway && count < callsMax) this.#callAt(at + secondsBetweenCalls, event, call, count + 1);
      else this.#at(at + secondsAfterCall, () => this.#end(event));
    });
  }

  #end(event: Event): void {
    if (this.#slot !== event) return;
    const last = this.#lastRuns.get(event.automation);
    if (last) last.hasEnded = true;
    this.#slot = undefined;
    const next = this.#stored.shift();
    if (next) this.#start(next);
  }
}
