/** Likely causes why a number is pending or offline. */
export const healthCauses = [
  'simulated_not_running',
  'setup_link_unopened',
  'setup_link_ended',
  'shortcuts_not_run',
  'reconnect_unfinished',
  'stopped_after_message',
  'stopped_while_waiting',
  'no_power_or_network',
  'automation_stopped',
] as const;
export type HealthCause = (typeof healthCauses)[number];

interface CauseTexts {
  /** The cause in one or two sentences, which claim no more than the server knows. */
  readonly cause: string;
  /** Steps to take on the iPhone, with the names of iOS switches as in docs/iphone.md. */
  readonly advice: string;
}

const runAndAllow =
  'Unlock the iPhone, run Ownline Outbox, and answer each question with Always Allow. In Shortcuts, hold your finger on it, then Edit, the i in a circle, Privacy: Allow Running When Locked is on.';

/** Texts of the likely causes, for the API, the dashboard and mails. */
export const healthCauseTexts: Readonly<Record<HealthCause, CauseTexts>> = {
  simulated_not_running: {
    cause: 'The server simulates this iPhone, and is starting it.',
    advice: 'Wait some seconds. If it stays so, see whether a process with the role api runs.',
  },
  setup_link_unopened: {
    cause: 'Its setup link has not been opened on the iPhone yet.',
    advice: 'Open the setup link on the iPhone, and follow its page.',
  },
  setup_link_ended: {
    cause: 'Its setup link ended before an iPhone used it.',
    advice: 'Create a new setup link, and open it on the iPhone.',
  },
  shortcuts_not_run: {
    cause: 'The iPhone has opened the setup link and has not asked for messages yet.',
    advice: 'Run Ownline Outbox on the iPhone, and answer each question with Always Allow.',
  },
  reconnect_unfinished: {
    cause: 'A new setup link waits for its iPhone, and the earlier iPhone is silent.',
    advice:
      'Open the new setup link on the iPhone that is to send, or run Ownline Outbox on the earlier one.',
  },
  stopped_after_message: {
    cause:
      'The iPhone took a message and has been silent since. Ownline Outbox probably waits for the answer to a question, or ended while it sent.',
    advice: runAndAllow,
  },
  stopped_while_waiting: {
    cause:
      'The iPhone closed its connection while it waited for a message. Ownline Outbox was probably stopped, by iOS or by a person.',
    advice:
      'Run Ownline Outbox on the iPhone, and leave it running. Settings › Battery: Low Power Mode is off.',
  },
  no_power_or_network: {
    cause: 'The iPhone stopped asking for messages. It may have no power or no network.',
    advice:
      'Check that the iPhone is on, on a charging cable and in its network. Settings › Battery: Low Power Mode is off. Then run Ownline Outbox.',
  },
  automation_stopped: {
    cause: 'The iPhone has been silent for over an hour, and no automation has started Ownline Outbox again.',
    advice:
      'Run Ownline Outbox on the iPhone. Then look at its automations in Shortcuts: with iOS 27, tap its three dots, and each is on; with an older iOS, tap Automation, and each says Run Immediately.',
  },
};
