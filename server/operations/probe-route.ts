import { createHash, timingSafeEqual } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { nullable } from '#contract/schema.ts';
import { inboundBodyMaxBytes } from '#server/device-protocol/limits.ts';
import { type Route, route } from '#server/http/route.ts';
import { disconnectSignal } from '#server/http/stream-answer.ts';
import { LongPoll, type LongPolls } from '#server/platform/concurrency/long-poll.ts';
import { type Secrets, sha256 } from '#server/platform/crypto.ts';
import type { Clock } from '#server/platform/time/clock.ts';

/** The path of the probe. It is below /v1/device, because a proxy may have other rules for the device endpoints. */
export const probePath = '/v1/device/probe/:ticket';

/** Lifetime of a ticket: a check takes a minute at most, and clocks may differ. */
const ticketMs = 300_000;

/** Creates a ticket that is valid for five minutes. `ownline doctor` has SECRETS_KEY and can therefore create one. */
export function createProbeTicket(secrets: Secrets, nowMs: number): string {
  const expiry = Math.floor(nowMs + ticketMs).toString(36);
  return `${expiry}.${secrets.mac('probe', expiry)}`;
}

/** Whether a ticket was made with this SECRETS_KEY and has not expired. */
export function isProbeTicket(secrets: Secrets, ticket: string, nowMs: number): boolean {
  const [, expiry = '', mac = ''] = /^([0-9a-z]{1,12})\.([\w-]{43})$/.exec(ticket) ?? [];
  const leftMs = Number.parseInt(expiry, 36) - nowMs;
  // An expiry further ahead than a new ticket's comes from a wrong clock. timingSafeEqual requires texts of equal
  // length, so hashes are compared.
  return (
    timingSafeEqual(sha256(mac), sha256(secrets.mac('probe', expiry))) && leftMs > 0 && leftMs <= 2 * ticketMs
  );
}

/** Upper bound on how long a probe request is held, equal to the largest DEVICE_HOLD_SECONDS. */
const holdMaxMs = 50_000;

/** Text in every answer of the probe. It contains characters that some proxies rewrite, and must arrive unchanged. */
export const probeText =
  '<a href="mailto:ada@example.com">ada@example.com</a> +1 415 555 0100 “Grüße” 👍🏽 </script> http://example.com/';

/** A request as the server received it. `ownline doctor` compares it with the request that it sent. */
export const ProbeAnswer = Type.Object(
  {
    body_bytes: Type.Integer(),
    body_sha256: Type.String(),
    host: nullable(Type.String()),
    content_type: nullable(Type.String()),
    device_token: nullable(Type.String()),
    forwarded_for: nullable(Type.String()),
    /**
     * `client` is the client's address as rate limits see it; `peer` is the other end of the connection, perhaps a
     * proxy.
     */
    client: Type.String(),
    peer: nullable(Type.String()),
    text: Type.String(),
  },
  { additionalProperties: false },
);
export type ProbeAnswer = Static<typeof ProbeAnswer>;

/**
 * The probe of `ownline doctor`: it answers with the request as it arrived, after a hold like that of a poll. It
 * requires a ticket made with SECRETS_KEY, which is checked before the body is read.
 * @param heldProbes the probes that are held at present. Nothing wakes them; a stop of the server ends them
 */
export function probeRoute(clock: Clock, heldProbes: LongPolls<'probe'>): Route {
  return route(`POST ${probePath}`, {
    audience: 'operations',
    admission: { ownToken: true, permit: 'held', bodyMaxBytes: inboundBodyMaxBytes },
    query: Type.Object({ hold_ms: Type.Optional(Type.String({ maxLength: 6 })) }),
    answers: { 200: ProbeAnswer },
    handle: async ({ request, reply, query }) => {
      const holdMs = Math.min(Number(query.hold_ms ?? 0) || 0, holdMaxMs);
      if (holdMs > 0) {
        const probe = new LongPoll(false);
        probe.endAfter(clock, holdMs);
        await heldProbes.hold('probe', probe, disconnectSignal(reply), () => probe.untilEnded());
      }
      // The body parser returns the bytes as a buffer; a request without a body has no buffer.
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const header = (name: string) => {
        const value = request.headers[name];
        return value === undefined ? null : String(value);
      };
      const answer: ProbeAnswer = {
        body_bytes: bytes.length,
        body_sha256: createHash('sha256').update(bytes).digest('hex'),
        host: header('host'),
        content_type: header('content-type'),
        device_token: header('x-device-token'),
        forwarded_for: header('x-forwarded-for'),
        client: request.ip,
        peer: request.socket.remoteAddress ?? null,
        text: probeText,
      };
      return { body: answer };
    },
  });
}
