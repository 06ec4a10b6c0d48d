import { again } from '#server/database/group-commit.ts';
import { MediaWriter } from '#server/media/media-writer.ts';
import { acceptSends, type SendOutcome } from '#server/messages/accept-sends.ts';
import { cancelMessage } from '#server/messages/cancel-message.ts';
import { failMediaFetch, finishMediaFetch } from '#server/messages/finish-media-fetch.ts';
import { resolveUnconfirmed } from '#server/messages/resolve-unconfirmed.ts';
import { sendMessage } from '#server/messages/send-message.ts';
import { demoDomain } from '#server/platform/demo-domain.ts';
import { type MessageId, parseId, type TeamId } from '#server/platform/ids/ids.ts';
import { calendarEntry } from './demo-files.ts';
import type { DemoKeys, DemoPeople } from './demo-people.ts';
import type { DemoPhone } from './demo-phone.ts';
import { type DemoRuntime, moveTo } from './demo-runtime.ts';
import type { DemoOutcome, OutboundDemoText } from './demo-texts.ts';

const secondMs = 1_000;

/** Sends the outbound texts of a demo, and brings each to its outcome. */
export class DemoSends {
  readonly #demo: DemoRuntime;
  readonly #teamId: TeamId;
  readonly #people: DemoPeople;
  readonly #keys: DemoKeys;

  constructor(demo: DemoRuntime, teamId: TeamId, people: DemoPeople, keys: DemoKeys) {
    this.#demo = demo;
    this.#teamId = teamId;
    this.#people = people;
    this.#keys = keys;
  }

  async send(text: OutboundDemoText, phone: DemoPhone): Promise<MessageId> {
    const id = await this.#accept(text, phone);
    const { outcome } = text;
    switch (outcome) {
      case 'queued':
      case 'expired':
      case 'number_removed':
        // The message waits. A later step of the demo lets it expire, or deletes its number.
        return id;
      case 'cancelled':
        this.#pass(40);
        await cancelMessage(this.#demo, this.#teamId, id, this.#people.priya.act());
        return id;
      case 'opted_out':
        this.#pass(5);
        await phone.receive(text.handle, 'STOP');
        return id;
      case 'media_unavailable':
      case 'media_too_large':
        this.#pass(71);
        await failMediaFetch(
          this.#demo,
          this.#fetchOf(id),
          outcome === 'media_too_large' ? 'too_large' : 'http_404',
        );
        return id;
      default:
        if (text.hasFile) await this.#storeFile(id);
        await this.#handOut(id, outcome, phone);
        return id;
    }
  }

  async #accept(
    { by, handle, text, outcome, hasFile }: OutboundDemoText,
    phone: DemoPhone,
  ): Promise<MessageId> {
    if (by === 'booking') this.#keys.noteUse();
    const sender = {
      teamId: this.#teamId,
      id: by === 'booking' ? this.#keys.bookingId : this.#people[by].id,
    };
    const isWithFile = hasFile || outcome === 'media_unavailable' || outcome === 'media_too_large';
    const input = { from: phone.phoneNumber, to: handle, content: text };
    const { message } = await sendMessage(
      { ...this.#demo, sends: { accept: (row) => this.#acceptRow(row) } },
      sender,
      isWithFile ? { ...input, media_url: mediaUrl } : input,
    );
    const id = parseId('msg', message.id);
    if (id === undefined) throw new Error('an accepted message of the demo has no id');
    return id;
  }

  /** The first send of a month runs again, because its team has no usage row yet. */
  async #acceptRow(row: Parameters<typeof acceptSends>[1][number]): Promise<SendOutcome> {
    for (let tries = 0; tries < 2; tries += 1) {
      const [outcome] = await acceptSends(this.#demo, [row]);
      if (outcome !== undefined && outcome !== again) return outcome;
    }
    throw new Error('a send of the demo has no outcome');
  }

  async #handOut(id: MessageId, outcome: DemoOutcome, phone: DemoPhone): Promise<void> {
    this.#pass(2);
    const handOut = await phone.take();
    if (handOut.message_id !== id) throw new Error('an iPhone of the demo took another message');
    if (outcome === 'polling') return;
    if (outcome === 'device_timeout') {
      this.#pass(this.#demo.config.deviceLeaseMs / secondMs);
      const flight = {
        team_id: this.#teamId,
        number_id: phone.id,
        message_id: id,
        hand_out: handOut.hand_out,
      };
      await resolveUnconfirmed(this.#demo, flight);
      return;
    }
    this.#pass(2);
    if (outcome === 'device_error')
      return phone.report(id, 'failed', 'The recipient is not registered with iMessage.');
    await phone.report(id, 'sent');
    if (outcome === 'sent') return;
    this.#pass(3);
    await phone.report(id, outcome === 'not_delivered' ? 'not_delivered' : 'delivered');
  }

  /** Stores the file of a message, as a fetch does. */
  async #storeFile(messageId: MessageId): Promise<void> {
    this.#pass(1);
    const target = { teamId: this.#teamId, messageId, wantedName: 'appointment.ics' };
    const writer = new MediaWriter(this.#demo, target);
    await writer.write(calendarEntry(this.#demo.clock.now()));
    const written = await writer.end();
    if (typeof written === 'string') throw new Error(`a file of the demo was refused: ${written}`);
    await finishMediaFetch(this.#demo, this.#fetchOf(messageId), written);
  }

  #fetchOf(messageId: MessageId) {
    const origin = new URL(mediaUrl).origin;
    return { team_id: this.#teamId, message_id: messageId, url: mediaUrl, origin, tries: 0, failed_tries: 0 };
  }

  #pass(seconds: number): void {
    moveTo(this.#demo, this.#demo.clock.nowMs() + seconds * secondMs);
  }
}

const mediaUrl = `https://files.${demoDomain}/appointment.ics`;
