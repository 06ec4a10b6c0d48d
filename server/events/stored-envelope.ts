import type { EventType } from '#contract/event.ts';
import { type EventId, type MessageId, publicId, type TeamId, timeOfId } from '#server/platform/ids/ids.ts';

/** The columns of an event whose values its envelope repeats. */
export interface EnvelopeColumns {
  readonly team_id: TeamId;
  readonly id: EventId;
  readonly type: EventType;
  readonly message_id: MessageId | null;
}

/** The column values as texts, in the form in which the envelope contains them. */
interface Repeated {
  readonly type: EventType;
  readonly event: string;
  readonly team: string;
  readonly at: string;
  /** The public id of the message; undefined for an event without a message. */
  readonly message: string | undefined;
  readonly createdAt: string | undefined;
}

function repeatedOf({ team_id, id, type, message_id }: EnvelopeColumns): Repeated {
  return {
    type,
    event: publicId('evt', id),
    team: publicId('team', team_id),
    at: timeOfId(id).toISOString(),
    message: message_id === null ? undefined : publicId('msg', message_id),
    createdAt: message_id === null ? undefined : timeOfId(message_id).toISOString(),
  };
}

/**
 * Dictionary coding of stored envelopes (decision 0035). A control character stands for a text that other columns of
 * the row contain, or that every event contains. JSON escapes control characters, so no envelope contains one.
 *
 * Stored rows depend on this dictionary: a character keeps its text for ever, and new texts get new characters. An
 * envelope without any of these texts is stored unchanged.
 */
const dictionary: readonly (readonly [string, (repeated: Repeated) => string])[] = [
  ['\u0001', ({ event, type, at }) => `{"id":"${event}","type":"${type}","timestamp":"${at}","data":{`],
  ['\u0002', ({ team }) => `},"team_id":"${team}","api_version":"v1","sequence":`],
  ['\u0003', ({ message }) => `"id":"${message}","from":"`],
  ['\u0004', () => '","to":"'],
  ['\u0005', () => '","content":"'],
  ['\u0006', () => '","media_url":null,'],
  ['\u0007', ({ createdAt }) => `"status":"sent","created_at":"${createdAt}","sent_at":"`],
  ['\u0008', ({ createdAt }) => `"status":"delivered","created_at":"${createdAt}","sent_at":"`],
  ['\u000b', ({ createdAt }) => `"status":"failed","created_at":"${createdAt}","sent_at":null,"failed_at":"`],
  ['\u000c', ({ createdAt }) => `"received_at":"${createdAt}"`],
  ['\u000e', () => '","delivered_at":"'],
  ['\u000f', () => '","error_code":"'],
  ['\u0010', ({ at }) => at.slice(0, '2026-11-22T18:45:'.length)],
];
const textOf = new Map(dictionary);

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters of the dictionary
const controlCharacters = /[\u0000-\u001f]/g;

/** Encodes an envelope for storage. @param envelope JSON without control characters */
export function storeEnvelope(columns: EnvelopeColumns, envelope: string): string {
  const repeated = repeatedOf(columns);
  let stored = envelope;
  for (const [character, text] of dictionary) stored = stored.replaceAll(text(repeated), character);
  return stored;
}

/** Decodes a stored envelope to the bytes that every attempt sends. */
export function readStoredEnvelope(columns: EnvelopeColumns, stored: string): string {
  let repeated: Repeated | undefined;
  return stored.replace(controlCharacters, (character) => {
    repeated ??= repeatedOf(columns);
    const text = textOf.get(character)?.(repeated);
    if (text === undefined)
      throw new Error(`the stored envelope of event ${columns.id} has an unknown placeholder`);
    return text;
  });
}
