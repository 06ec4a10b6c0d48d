import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Runtime } from '#server/database/runtime.ts';
import { bodyMaxBytes } from '#server/http/limits.ts';
import { isDisconnected } from '#server/http/stream-answer.ts';
import { unavailable } from '#server/platform/app-error.ts';
import {
  acquireAll,
  KeyedSemaphore,
  type QueueBounds,
} from '#server/platform/concurrency/keyed-semaphore.ts';
import type { TeamId } from '#server/platform/ids.ts';

/** How many large bodies of one device token are in memory at a time. Large means larger than an ordinary request. */
export const largeDeviceBodiesMax = 4;

/** Size above which a body contains a file: no other body is this large. */
export const fileBodyMinBytes = 1_024 * 1_024;

/** How many bodies with a file are in memory at a time: of a team, and of a process. */
const fileBodiesOfTeamMax = 2;

const fileBodiesMax = 6;

/** How long a large body may wait until it is read: as long as iOS waits for an answer. */
const deviceBodyWaitMaxMs = 60_000;

const queue: QueueBounds = {
  name: 'body',
  waitingMax: Number.POSITIVE_INFINITY,
  waitMaxMs: deviceBodyWaitMaxMs,
  refuse: () => unavailable('Too many large requests of this phone wait. Repeat the request in a moment.'),
};

/**
 * Bounds the memory of device bodies (specification section 11.7). A few large bodies of a token are read at a time;
 * further ones stay unread until a call with a large body is answered. Bodies that may contain a file also count
 * against limits of their team and of the process. Small bodies are not delayed.
 */
export function createBodyLimiter({ clock }: Runtime) {
  const tokens = new KeyedSemaphore({ clock, runningMax: largeDeviceBodiesMax });
  const teams = new KeyedSemaphore({ clock, runningMax: fileBodiesOfTeamMax });
  const process = new KeyedSemaphore({ clock, runningMax: fileBodiesMax });
  /** Resolves once the body may be read. @throws AppError 503 if the wait times out */
  return async (
    token: string,
    teamId: TeamId,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> => {
    if (!isLargerThan(bodyMaxBytes, request)) return;
    const ofFile = [
      [teams, teamId],
      [process, ''],
    ] as const;
    const release = await acquireAll(
      queue,
      [tokens, token],
      ...(isLargerThan(fileBodyMinBytes, request) ? ofFile : []),
    );
    if (isDisconnected(reply)) release();
    else reply.raw.once('close', release);
  };
}

/** Whether a body may be larger than `bytes`. A body of unknown length may be. */
function isLargerThan(bytes: number, { raw: { headers } }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > bytes;
}
