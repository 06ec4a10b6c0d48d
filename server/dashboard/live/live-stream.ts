import { randomInt } from 'node:crypto';
import { type ResourceType, resourceTypes } from '#contract/change.ts';
import type { LiveEndReason, LiveEventName, LiveEvents } from '#contract/live.ts';
import { allows, type Permission, type PersonalPermission, type RoleGrant } from '#contract/permissions.ts';
import { EventStream, formatEvent, formatRetry, keepAliveComment } from '#server/http/event-stream.ts';
import type { HandlerContext, Principal } from '#server/http/route.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { AccountId, TeamId } from '#server/platform/ids.ts';
import type { Clock } from '#server/platform/time/clock.ts';

/**
 * Range of the random time after which a browser reopens an ended stream, so that not all browsers reconnect at once.
 */
const retryMinMs = 1_000;
const retryMaxMs = 4_000;

/** How often a stream's session, membership and role are checked. */
const accessCheckMs = 10_000;

/** Unread bytes of a slow client at which its stream is closed. */
const streamBufferMaxBytes = 1_024 * 1_024;

/** How a stream ended, for the metrics. */
export type StreamEnd = 'left' | 'slow' | 'access' | 'stopped' | 'failed';

export type StreamCall = Pick<HandlerContext, 'principal' | 'signedIn' | 'reply' | 'reauthenticate'>;

export function liveEvent<N extends LiveEventName>(name: N, data: LiveEvents[N]): Buffer {
  return formatEvent(name, data);
}

/**
 * The live stream of one browser. It checks its member's access periodically. Events wait until a running check ends,
 * so that a removed member gets no event from after the check began.
 */
export class LiveStream {
  readonly teamId: TeamId;
  readonly accountId: AccountId;
  readonly #clock: Clock;
  readonly #call: StreamCall;
  readonly #stream: EventStream;
  readonly #onEnd: (how: StreamEnd) => void;
  #visible: readonly ResourceType[];
  #held: Buffer[] | undefined;
  #checkAgain = false;
  #cancelCheck = () => {};
  #end: StreamEnd | undefined;

  /** Sends the first event at once. */
  constructor(clock: Clock, call: StreamCall, onEnd: (how: StreamEnd) => void) {
    this.#clock = clock;
    this.#call = call;
    this.#onEnd = onEnd;
    this.teamId = call.principal.teamId;
    this.accountId = call.signedIn.accountId;
    this.#visible = visibleResources(call.principal.permissions);
    this.#stream = new EventStream(call.reply, streamBufferMaxBytes);
    this.#stream.onClose(() => this.#close('left'));
    this.#write(formatRetry(randomInt(retryMinMs, retryMaxMs)));
    this.#write(this.#hello());
    this.#checkLater();
  }

  /** The resource types that the member may read. */
  get visible(): readonly ResourceType[] {
    return this.#visible;
  }

  send(event: Buffer): void {
    if (!this.#held) this.#write(event);
    else if (sizeOf(this.#held) + event.length <= streamBufferMaxBytes) this.#held.push(event);
    else this.#close('failed');
  }

  keepAlive(): void {
    this.#write(keepAliveComment);
  }

  stop(): void {
    this.#close('stopped');
  }

  /** Checks session, membership and role now. If a check is running, another one follows it. */
  check(): void {
    if (this.#held) this.#checkAgain = true;
    else void this.#check();
  }

  async #check(): Promise<void> {
    this.#cancelCheck();
    this.#held = [];
    try {
      do {
        this.#checkAgain = false;
        const { principal } = await this.#call.reauthenticate();
        if (this.#end) return;
        if (principal) this.#see(principal);
      } while (this.#checkAgain);
    } catch (error) {
      const reason = endReason(error);
      if (reason) this.#write(liveEvent('ended', { reason }));
      this.#close(reason ? 'access' : 'failed');
      return;
    }
    const held = this.#held;
    this.#held = undefined;
    for (const event of held) this.#write(event);
    this.#checkLater();
  }

  /** After a change of role, the browser reads everything again, because the member may read other resource types. */
  #see({ permissions }: Principal): void {
    const visible = visibleResources(permissions);
    if (visible.join() === this.#visible.join()) return;
    this.#visible = visible;
    this.#held = [this.#hello(), liveEvent('reload', {})];
  }

  #hello(): Buffer {
    return liveEvent('hello', { resources: [...this.#visible], at: this.#clock.now().toISOString() });
  }

  #checkLater(): void {
    if (!this.#end) this.#cancelCheck = this.#clock.after(accessCheckMs, () => void this.#check());
  }

  #write(bytes: Buffer): void {
    if (!this.#end && !this.#stream.write(bytes)) this.#close('slow');
  }

  #close(how: StreamEnd): void {
    if (this.#end) return;
    this.#end = how;
    this.#cancelCheck();
    this.#stream.end();
    this.#onEnd(how);
  }
}

function sizeOf(events: readonly Buffer[]): number {
  return events.reduce((sum, event) => sum + event.length, 0);
}

/** Why access ended; undefined if the error says nothing about access, as when the database is away. */
function endReason(error: unknown): LiveEndReason | undefined {
  if (!(error instanceof AppError)) return undefined;
  if (error.status === 401) return 'signed_out';
  return error.status === 403 || error.status === 404 ? 'no_access' : undefined;
}

/** The permission that reading each resource type requires, in live streams and in the API's operations. */
const readPermissions: Readonly<Record<ResourceType, Permission | PersonalPermission>> = {
  team: 'team:read',
  member: 'team:read',
  invitation: 'team:read',
  key: 'keys:manage',
  number: 'numbers:read',
  message: 'messages:read',
  event: 'messages:read',
  opt_out: 'messages:read',
  contact: 'messages:read',
  webhook: 'webhooks:read',
  delivery: 'webhooks:read',
  usage: 'team:read',
  audit: 'audit:read',
};

function visibleResources(grants: readonly RoleGrant[]): ResourceType[] {
  return resourceTypes.filter((type) => allows(grants, readPermissions[type]));
}
