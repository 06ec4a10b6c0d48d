import type { FileForm, InstallWay } from '#contract/setup.ts';
import type { Texts } from './texts.ts';

/** The app of the iPhone in which a person does something, or the second phone. */
type Place = 'page' | 'settings' | 'shortcuts' | 'second_phone';

/** One thing to do. The counts are for an iPhone with factory settings otherwise (test/setup/taps.test.ts). */
export interface Instruction {
  readonly text: keyof Texts['instructions'];
  readonly place: Place;
  /** Taps on the iPhone's screen, and texts that the second phone sends. */
  readonly taps: number;
  /** Screens and questions that open. */
  readonly screens: number;
  readonly typed?: readonly string[];
  readonly drawing?: DrawingName;
  /** The part of the page that belongs to the instruction, such as a button or a list. */
  readonly part?: PartName;
  /** The ways to install for which the instruction is shown; by default all. */
  readonly ways?: readonly InstallWay['kind'][];
}

const drawings = ['add', 'allow', 'choose', 'contains', 'download', 'run', 'switches', 'triggers'] as const;
type DrawingName = (typeof drawings)[number];

const buttons = ['start', 'inbound', 'outbox', 'code', 'by_hand', 'automation', 'text', 'lock'] as const;
const results = ['poll', 'switches', 'arrived', 'replies', 'more_replies', 'starters', 'locked'] as const;
export type PartName = (typeof buttons | typeof results)[number];

export interface Step {
  readonly name: keyof Texts['steps'];
  /** The checks that make the step done. */
  readonly checks: RegExp;
  readonly instructions: readonly Instruction[];
}

/** Automations in the files for iOS 27. */
export const automationCounts = { inbound: 10, outbox: 6 } as const;

/** The hour of the automation that starts Ownline Outbox each day, on iOS 17 to 26. */
export const startHour = 6;

const on =
  (place: Place) =>
  (
    text: Instruction['text'],
    taps: number,
    screens: number,
    more: Partial<Instruction> = {},
  ): Instruction => ({ text, place, taps, screens, ...more });
const page = on('page');
const settings = on('settings');
const shortcuts = on('shortcuts');
const secondPhone = on('second_phone');

const prepare = (messages: 'messages' | 'messages26'): Step => ({
  name: 'prepare',
  checks: /^address$/,
  instructions: [
    page('cable', 0, 1),
    page('secondPhone', 0, 0),
    // Settings, Apps, Messages.
    settings(messages, 3, 3),
    // Back twice, General, Software Update, Automatic Updates, the switch.
    settings('updates', 6, 3),
    // Back to Safari, and the button.
    page('start', 2, 1, { part: 'start' }),
  ],
});

const offered = ['links', 'files', 'signed'] as const;

/** Instructions to add one of the shortcuts: a button, the download of a file, and Add Shortcut. */
function add(name: 'inbound' | 'outbox'): readonly Instruction[] {
  // The drawings are shown for the first shortcut only.
  const drawn = (drawing: DrawingName) => (name === 'inbound' ? { drawing } : {});
  return [
    page(name, 1, 0, { part: name, ways: offered }),
    page('download', 4, 2, { ways: ['files', 'signed'], ...drawn('download') }),
    // The empty field, Paste, Add Shortcut.
    shortcuts('paste', 3, 2, { part: 'code', ways: ['links', 'files'], ...drawn('add') }),
    shortcuts('add', 1, 1, { ways: ['signed'] }),
  ];
}

const back = page('back', 1, 0, { ways: offered });
const addFirst: readonly Instruction[] = [
  // Nothing to do on an iPhone that was not connected before.
  page('removeOld', 0, 0, { ways: offered }),
  page('byHand', 0, 0, { part: 'by_hand', ways: ['by_hand'] }),
  ...add('inbound'),
];
const runIt: readonly Instruction[] = [
  // The shortcut itself, and Always Allow.
  shortcuts('run', 2, 2, { drawing: 'run' }),
  page('connected', 1, 0, { part: 'poll' }),
];

const send: Step = {
  name: 'send',
  checks: /^(text|arrived)$/,
  instructions: [
    page('number', 2, 0, { typed: ['+14155550100'], part: 'text' }),
    page('allowThree', 3, 3, { drawing: 'allow' }),
    page('arrived', 1, 0, { part: 'arrived' }),
  ],
};

const testReplies: readonly Instruction[] = [
  secondPhone('firstReply', 1, 1, { typed: ['7', 'pm'] }),
  page('allowOnce', 1, 1),
  secondPhone('otherReplies', 4, 0, { typed: ['Seen', 'No', 'Thanks', 'Hi'], part: 'replies' }),
];

const locked: Step = {
  name: 'locked',
  checks: /^locked/,
  instructions: [
    page('lock', 1, 0, { part: 'lock' }),
    secondPhone('answer', 1, 1, { typed: ['Hi'] }),
    page('unlock', 0, 0, { part: 'locked' }),
  ],
};

/** The steps of the page for each form of the shortcuts. */
export const steps: Readonly<Record<FileForm, readonly Step[]>> = {
  27: [
    prepare('messages'),
    {
      name: 'add',
      checks: /^(poll|switches)$/,
      instructions: [
        ...addFirst,
        // The three dots, the switches, Done.
        shortcuts('switchInbound', automationCounts.inbound + 2, 1, { ways: offered, drawing: 'switches' }),
        back,
        ...add('outbox'),
        shortcuts('switchOutbox', automationCounts.outbox + 2, 1, { ways: offered }),
        ...runIt,
        page('switched', 1, 0, { part: 'switches' }),
      ],
    },
    send,
    { name: 'replies', checks: /^reply_/, instructions: testReplies },
    locked,
  ],
  26: [
    prepare('messages26'),
    { name: 'add', checks: /^poll$/, instructions: [...addFirst, back, ...add('outbox'), ...runIt] },
    send,
    {
      name: 'replies',
      checks: /^reply_/,
      instructions: [
        // The button, and Safari's question.
        page('automation', 2, 2, { part: 'automation' }),
        shortcuts('message', 1, 1, { drawing: 'triggers' }),
        // Message Contains, Run Immediately, Next.
        shortcuts('contains', 3, 1, { typed: [' '], drawing: 'contains' }),
        shortcuts('chooseInbound', 1, 1, { drawing: 'choose' }),
        // Six taps each: +, Message, Message Contains, Run Immediately, Next, Ownline Inbound.
        shortcuts('fourMore', 24, 12, { typed: ['e', 'o', 'a', 'i'] }),
        page('back', 1, 0),
        page('more', 0, 0, { part: 'more_replies' }),
        ...testReplies,
      ],
    },
    {
      name: 'running',
      checks: /^(charger|wifi|time)$/,
      instructions: [
        page('starter', 2, 2, { part: 'automation' }),
        // Charger, Is Disconnected, Run Immediately, Next, Ownline Outbox.
        shortcuts('charger', 5, 2),
        // +, Wi-Fi, the network, Any Network, Done, Run Immediately, Next, Ownline Outbox.
        shortcuts('wifi', 8, 4),
        // +, Time of Day, the time, Daily, Run Immediately, Next, Ownline Outbox.
        shortcuts('time', 7, 3),
        // Back to Safari, and the three squares.
        page('made', 4, 0, { part: 'starters' }),
      ],
    },
    locked,
  ],
};

/** Whether an instruction is shown for a way to install the shortcuts. */
export const isShown = ({ ways }: Instruction, way: InstallWay['kind']) => ways?.includes(way) ?? true;
