import { Counter } from 'prom-client';
import type { Changes } from '#server/dashboard/changes.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { isDisconnected } from '#server/http/stream-answer.ts';
import { tooManyRequests, unavailable } from '#server/platform/app-error.ts';
import type { AccountId, TeamId } from '#server/platform/ids.ts';
import { gauges } from '#server/platform/process/metrics.ts';
import { LiveStream, type StreamCall, type StreamEnd } from './live-stream.ts';
import { type FeedServices, TeamFeed } from './team-feed.ts';

const keepAliveMs = 15_000;

/** Upper bounds on open live streams in this process: of a team, of an account, and in all. */
const liveStreamsMax = { ofTeam: 200, ofAccount: 20, ofProcess: 2_000 } as const;

/** The live streams of this process, with one feed for each team that has live streams. */
export class LiveStreams {
  readonly #services: FeedServices;
  readonly #feeds = new Map<TeamId, TeamFeed>();
  readonly #byAccount = new Map<AccountId, number>();
  readonly #countEnd: (how: StreamEnd) => void;
  #count = 0;
  #isStopping = false;
  #cancelKeepAlive = () => {};

  constructor(services: Runtime & { readonly changes: Changes }) {
    this.#services = services;
    gauges({ metrics: services.metrics }, () => this.#count, {
      ownline_live_streams: ['Live streams that are open.', Number],
    });
    const ended = new Counter({
      name: 'ownline_live_streams_ended_total',
      help: 'Live streams that ended: the browser left, was too slow, or lost its access; a stop; a failure.',
      labelNames: ['how'] as const,
      registers: [services.metrics],
    });
    this.#countEnd = (how) => ended.inc({ how });
  }

  /**
   * Answers a request with a stream.
   * @throws AppError 429 if the team or the account has too many streams; 503 if the process has too many or is
   * stopping
   */
  open(call: StreamCall): void {
    const { teamId } = call.principal;
    this.#requireCapacity(teamId, call.signedIn.accountId);
    if (isDisconnected(call.reply)) return;
    const feed = this.#feeds.get(teamId) ?? new TeamFeed(this.#services, teamId);
    this.#feeds.set(teamId, feed);
    const stream = new LiveStream(this.#services.clock, call, (how) => this.#remove(feed, stream, how));
    feed.streams.add(stream);
    this.#byAccount.set(stream.accountId, this.#countOf(stream.accountId) + 1);
    this.#count += 1;
    if (this.#count === 1) this.#keepAliveLater();
  }

  /** Ends every stream, and refuses new ones. */
  stop(): void {
    this.#isStopping = true;
    for (const feed of [...this.#feeds.values()]) for (const stream of [...feed.streams]) stream.stop();
  }

  #remove(feed: TeamFeed, stream: LiveStream, how: StreamEnd): void {
    this.#countEnd(how);
    feed.streams.delete(stream);
    if (feed.streams.size === 0) {
      feed.close();
      this.#feeds.delete(stream.teamId);
    }
    const left = this.#countOf(stream.accountId) - 1;
    if (left > 0) this.#byAccount.set(stream.accountId, left);
    else this.#byAccount.delete(stream.accountId);
    this.#count -= 1;
    if (this.#count === 0) this.#cancelKeepAlive();
  }

  #requireCapacity(teamId: TeamId, accountId: AccountId): void {
    if (this.#isStopping) throw unavailable('This server is stopping. Repeat the request in a moment.');
    const ofTeam = this.#feeds.get(teamId)?.streams.size ?? 0;
    if (ofTeam >= liveStreamsMax.ofTeam || this.#countOf(accountId) >= liveStreamsMax.ofAccount)
      throw tooManyRequests(retrySeconds);
    if (this.#count >= liveStreamsMax.ofProcess)
      throw unavailable(
        `The server is at its limit of ${liveStreamsMax.ofProcess} live streams. Repeat the request in a moment.`,
      );
  }

  #countOf(accountId: AccountId): number {
    return this.#byAccount.get(accountId) ?? 0;
  }

  #keepAliveLater(): void {
    this.#cancelKeepAlive = this.#services.clock.after(keepAliveMs, () => {
      this.#keepAliveLater();
      for (const feed of [...this.#feeds.values()])
        for (const stream of [...feed.streams]) stream.keepAlive();
    });
  }
}

/** When a browser with too many streams should try again. */
const retrySeconds = 30;
