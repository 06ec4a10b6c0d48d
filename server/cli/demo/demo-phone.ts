import { lookUpPolls } from '#server/device-protocol/look-up-polls.ts';
import { startDeviceSession } from '#server/device-protocol/start-session.ts';
import { claimDevice, closeSetupLink } from '#server/devices/claim-device.ts';
import {
  type DeviceDescription,
  findDeviceByToken,
  storeReceivedTests,
} from '#server/devices/device-store.ts';
import { anyText, inboundTests } from '#server/devices/inbound-tests.ts';
import { claimMessages } from '#server/messages/claim-message.ts';
import type { HandOut } from '#server/messages/claim-statement.ts';
import { type Inbound, receiveMessage } from '#server/messages/receive-message.ts';
import { type Report, reportMessage } from '#server/messages/report-message.ts';
import { findNumber, type NumberRow } from '#server/numbers/number-store.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { DeviceSessionId, MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import type { DemoRuntime } from './demo-runtime.ts';

/** An iPhone of a demo: it polls, takes messages, reports and receives, by the use cases of the device protocol. */
export class DemoPhone {
  readonly #demo: DemoRuntime;
  readonly #number: NumberRow;
  readonly #tokenHash: Buffer;
  readonly #sessionId: DeviceSessionId;

  private constructor(demo: DemoRuntime, number: NumberRow, tokenHash: Buffer, sessionId: DeviceSessionId) {
    this.#demo = demo;
    this.#number = number;
    this.#tokenHash = tokenHash;
    this.#sessionId = sessionId;
  }

  /** Opens a setup link, passes its tests, and makes the first poll, which verifies the number. */
  static async connect(
    demo: DemoRuntime,
    { team_id: teamId, id }: { readonly team_id: TeamId; readonly id: NumberId },
    setupUrl: string,
    description: DeviceDescription,
  ): Promise<DemoPhone> {
    const setupToken = setupUrl.slice(setupUrl.lastIndexOf('/') + 1);
    const { deviceToken } = await claimDevice(demo, setupToken);
    const tokenHash = sha256(deviceToken);
    const asked = { teamId, tokenHash, isReporting: false, sessionId: undefined };
    const [found] = await lookUpPolls(demo, [asked]);
    const row = typeof found === 'object' ? found.row : undefined;
    const started = row && (await startDeviceSession(demo, tokenHash, row, description));
    const device = await findDeviceByToken(demo.trx, tokenHash);
    const number = await findNumber(demo.trx, teamId, id);
    if (!started || 'stop' in started || !device || !number)
      throw new Error('an iPhone of the demo was not connected');
    await storeReceivedTests(demo.trx, device, [anyText, ...inboundTests.map(({ name }) => name)]);
    await closeSetupLink(demo, setupToken);
    return new DemoPhone(demo, number, tokenHash, started.sessionId);
  }

  get id(): NumberId {
    return this.#number.id;
  }

  get phoneNumber(): string {
    return this.#number.phone_number;
  }

  /** Polls, and takes the next message. */
  async take(): Promise<HandOut> {
    const { team_id: teamId, id: numberId } = this.#number;
    const row = await this.poll();
    const claimant = {
      teamId,
      numberId,
      deviceId: row.device_id,
      sessionId: this.#sessionId,
      poll: row.poll ?? 0,
    };
    const [claim] = await claimMessages(this.#demo, [claimant], this.#demo.config.deviceHoldMs);
    if (typeof claim !== 'object' || claim.kind !== 'hand_out')
      throw new Error('an iPhone of the demo found no message');
    return claim.handOut;
  }

  async poll() {
    const { team_id: teamId } = this.#number;
    const asked = { teamId, tokenHash: this.#tokenHash, isReporting: false, sessionId: this.#sessionId };
    const [found] = await lookUpPolls(this.#demo, [asked]);
    if (typeof found !== 'object' || !found.row) throw new Error('a poll of the demo was refused');
    return found.row;
  }

  async report(messageId: MessageId, status: Report['status'], error: string | null = null): Promise<void> {
    const { team_id: teamId, id: numberId } = this.#number;
    const report = { messageId, sessionId: this.#sessionId, status, error };
    await reportMessage(this.#demo, { teamId, numberId }, report);
  }

  async receive(from: string, text: string, media?: Inbound['media']): Promise<MessageId> {
    const inbound = { from, text, recipients: undefined, deviceGivenId: undefined, run: undefined, media };
    return (await receiveMessage(this.#demo, this.#number, inbound)).id;
  }
}
