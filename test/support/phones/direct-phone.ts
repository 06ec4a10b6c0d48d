import type { Runtime } from '#server/database/runtime.ts';
import type { Claim } from '#server/messages/claim-message.ts';
import { type ClaimingPoll, claimMessage, type HandOut } from '#server/messages/claim-message.ts';
import { releaseMessage } from '#server/messages/release-message.ts';
import { type Report, reportMessage } from '#server/messages/report-message.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { findDeviceSession } from '#test/support/devices/stored-device-sessions.ts';
import type { ConnectedNumber } from '#test/support/phones/test-phone.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** A connected phone that claims and reports messages without HTTP, so that thousands of messages take seconds. */
export class DirectPhone {
  readonly #session: ClaimingPoll;

  private constructor(session: ClaimingPoll) {
    this.#session = session;
  }

  static async of(service: TestService, { phoneNumber }: ConnectedNumber): Promise<DirectPhone> {
    const session = await findDeviceSession(service, phoneNumber);
    if (!session) throw new Error(`no phone polled for ${phoneNumber}`);
    return new DirectPhone(session);
  }

  claim(runtime: Runtime): Promise<Claim | undefined> {
    return claimMessage(runtime, this.#session, runtime.clock.in(60_000));
  }

  async report(
    runtime: Runtime,
    { message_id: messageId }: HandOut,
    status: Report['status'] = 'sent',
  ): Promise<void> {
    const { teamId, numberId, deviceId, sessionId } = this.#session;
    const device = { team_id: teamId, id: deviceId, number_id: numberId, ended_at: null };
    await reportMessage(runtime, device, { messageId, sessionId, status, error: null });
  }

  release(runtime: Runtime, { message_id: messageId }: HandOut): Promise<void> {
    return releaseMessage(runtime, this.#session, messageId);
  }

  /** Claims a message and reports it as sent. @returns its public id, or the time at which pacing allows one */
  async send(runtime: Runtime): Promise<string | Date | null | undefined> {
    const claim = await this.claim(runtime);
    if (claim?.kind !== 'hand_out') return claim?.until;
    await this.report(runtime, claim.handOut);
    return publicId('msg', claim.handOut.message_id);
  }
}
