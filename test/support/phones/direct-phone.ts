import { again } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { DeviceCaller } from '#server/http/route.ts';
import { type Claim, type ClaimingPoll, claimMessages, nothing } from '#server/messages/claim-message.ts';
import type { HandOut } from '#server/messages/claim-statement.ts';
import { releaseMessage } from '#server/messages/release-message.ts';
import { type Report, reportMessage } from '#server/messages/report-message.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { publicId } from '#server/platform/ids.ts';
import { findDeviceSession } from '#test/support/devices/stored-devices.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import { type ConnectedNumber, connectNumber } from './test-phone.ts';

/** A connected phone that claims and reports messages without HTTP, so that thousands of messages take seconds. */
export class DirectPhone {
  /** The phone's newest poll. */
  readonly session: ClaimingPoll;

  private constructor(session: ClaimingPoll) {
    this.session = session;
  }

  static async of(service: TestService, { phoneNumber }: ConnectedNumber): Promise<DirectPhone> {
    const session = await findDeviceSession(service, phoneNumber);
    if (!session) throw new Error(`no phone polled for ${phoneNumber}`);
    return new DirectPhone(session);
  }

  async claim(runtime: Runtime): Promise<Claim> {
    const [claim] = await claimMessages(runtime, [this.session], 60_000);
    return claim === undefined || claim === again ? nothing : claim;
  }

  async report(
    runtime: Runtime,
    { message_id: messageId }: Pick<HandOut, 'message_id'>,
    status: Report['status'] = 'sent',
  ): Promise<void> {
    const { sessionId } = this.session;
    await reportMessage(runtime, this.session, { messageId, sessionId, status, error: null });
  }

  release(runtime: Runtime, { message_id: messageId }: HandOut): Promise<void> {
    return releaseMessage(runtime, this.session, messageId);
  }

  /** Claims a message and reports it as sent. @returns its public id, or the time at which pacing allows one */
  async send(runtime: Runtime): Promise<string | Date | null | undefined> {
    const claim = await this.claim(runtime);
    if (claim.kind !== 'hand_out') return claim.kind === 'paced' ? claim.until : undefined;
    await this.report(runtime, claim.handOut);
    return publicId('msg', claim.handOut.message_id);
  }
}

/** One of many phones of a team. */
export interface OneOfMany {
  readonly number: ConnectedNumber;
  readonly phone: DirectPhone;
  /** A contact that no other phone of the test file writes to. */
  readonly contact: string;
  /** The phone as the caller of its requests. */
  readonly caller: DeviceCaller;
}

/** Connects this many new numbers with their phones. */
export function connectMany(service: TestService, team: TestTeam, count: number): Promise<OneOfMany[]> {
  const connect = async (): Promise<OneOfMany> => {
    const number = await connectNumber(service, team);
    const phone = await DirectPhone.of(service, number);
    const { teamId, deviceId, numberId } = phone.session;
    const { phoneNumber, wire } = number;
    return {
      number,
      phone,
      contact: phoneNumber.replace('+1415', '+1212'),
      caller: {
        ...{ teamId, deviceId, numberId, phoneNumber, tokenHash: sha256(wire.token) },
        ...{ isPoll: true, isOverLimit: false, endToken: () => undefined },
      },
    };
  };
  return Promise.all(Array.from({ length: count }, connect));
}

/** Sends a message from each phone's number to its contact. @returns the ids, in the order of the phones */
export function sendFromEach(
  team: TestTeam,
  phones: readonly OneOfMany[],
  content: string,
): Promise<string[]> {
  return Promise.all(
    phones.map(({ number, contact }) =>
      team.api.send({ from: number.phoneNumber, to: contact, content: `${content} ${contact}` }),
    ),
  );
}
