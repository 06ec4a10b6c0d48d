import type { FailureCode, MessageStatus } from './message.ts';

/*
 * The setup page's JSON. The server states facts and codes; the page has the words, in
 * each of its languages.
 */

/** The kind of shortcut files: for iOS 27 and newer, with automations inside, or for iOS 17 to 26. */
export type FileForm = 26 | 27;

/** How a phone gets the two shortcuts (the available way with the fewest steps). */
export type InstallWay =
  /** Files with address and token inside; `ready` once the click has made them. */
  | { readonly kind: 'signed'; readonly ready: boolean }
  /** The operator's iCloud links; the iPhone asks for the setup code. */
  | { readonly kind: 'links'; readonly outbox: string; readonly inbound: string }
  /** The operator's signed files; the iPhone asks for the setup code. */
  | { readonly kind: 'files' }
  /** Nothing is published: a technician builds both shortcuts. `failed`: the signing command failed. */
  | { readonly kind: 'by_hand'; readonly failed: boolean };

export type SetupState = {
  /** Identifies this state: a request that names it as `seen` is held until the state differs. */
  readonly version: string;
  /** The address of the page, for the QR code. */
  readonly url: string;
  readonly number: { readonly phone_number: string; readonly label: string };
  /** True if an iPhone was connected to the number before this link. */
  readonly had_phone: boolean;
  readonly address: {
    readonly problem: 'loopback' | 'private' | 'plain_http' | null;
    readonly url: string;
    /** The setting to change: BASE_URL, DEVICE_URL or APP_URL. */
    readonly setting: string;
  };
  /** The form for the iOS that a poll reported, otherwise the form that the person chose; null if neither is known. */
  readonly form: FileForm | null;
  readonly install: Readonly<Record<FileForm, InstallWay>>;
  /** The setup code, once a click has asked for it; null before. */
  readonly code: string | null;
  /** The phone of this link, after its first poll. Name and version are cleaned of hidden characters. */
  readonly phone: { readonly name: string; readonly ios: string; readonly since: string } | null;
  /** The checks of this form (27 while it is not known), in the order of the steps. */
  readonly checks: readonly SetupCheck[];
  /** Each automation with a test; the needed ones are checks, too. */
  readonly replies: readonly SetupReply[];
  /** The last test text. `left`: how many more this link may send; `count`: how many were begun. */
  readonly text: {
    readonly to: string | null;
    readonly status: MessageStatus | null;
    /** Why it failed, as a code and as an English sentence; null if it did not. */
    readonly error_code: FailureCode | null;
    readonly error: string | null;
    readonly count: number;
    readonly left: number;
  };
  /** `unlock_at`: when the person may unlock the iPhone, during the lock test. */
  readonly lock: { readonly unlock_at: string | null; readonly error: string | null };
};

/** The names of the setup checks. */
export type SetupCheckName =
  /** An iPhone reaches the server. */
  | 'address'
  /** This link's phone has polled. */
  | 'poll'
  /** The test text was sent, with its picture. */
  | 'text'
  /** A reply came in that only the automation of this test catches. */
  | `reply_${string}`
  | SetupTick
  /** Polls and a text went on while the iPhone was locked. */
  | 'locked'
  /** A reply came in while the iPhone was locked. */
  | 'locked_reply';

/**
 * Things that a person ticks, because the server can't see them. Both forms have `arrived`, only form 27 `switches`.
 */
export type SetupTick = 'switches' | 'arrived' | 'charger' | 'wifi' | 'time';

/** A setup check with its state. */
export type SetupCheck = {
  readonly name: SetupCheckName;
  readonly state: 'open' | 'busy' | 'done' | 'failed';
  /** Why the check has this state, if there are several reasons. */
  readonly reason: SetupReason | null;
};

export type SetupReason =
  // address
  | 'private'
  | 'plain_http'
  | 'loopback'
  // poll: the iPhone still runs the shortcut of an older link
  | 'old_shortcut'
  // poll: the iPhone has iOS 27, and got the shortcuts for iOS 17 to 26
  | 'other_form'
  // text
  | 'queued'
  | 'handed_out'
  // locked: failed
  | 'restarted'
  | 'silent'
  | 'silent_at_text'
  | 'slow'
  | 'text_refused'
  | 'text_failed'
  | 'text_late';

export type SetupReply = {
  readonly name: string;
  /** The text in the automation's field Message Contains. */
  readonly contains: string;
  /** The text that tests the automation. */
  readonly reply: string;
  readonly set: 'needed' | 'full' | 'answers';
  readonly passed: boolean;
};

/** `details.reason` of a refused request of the page; other errors have an English message only. */
export type SetupRefusal =
  | 'not_a_number'
  | 'own_number'
  | 'recipients_used'
  | 'texts_used'
  | 'not_polled'
  | 'no_test_text';
