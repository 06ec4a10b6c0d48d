import { shortcuts } from '#shortcut/shortcuts.ts';

/** A hand tick: something that only the person at the iPhone sees. */
export interface HandTick {
  /** Unique on the page. */
  readonly name: string;
  readonly title: string;
  /** How to do it without the page. */
  readonly remedy: string;
}

/** Hours of the day at which automations start Ownline Outbox again. */
const restartHours = [8, 12, 16, 20];

/** A line of the page that is ticked, with a title that fits below the heading of its step. */
export type TickTitle = Pick<HandTick, 'name' | 'title'>;

/** A time of day as iPhones of the number's country show it: `8:00 AM` where its calling code is 1, otherwise `08:00`. */
export function restartTimes(phoneNumber: string): readonly TickTitle[] {
  const hour12 = phoneNumber.startsWith('+1');
  return restartHours.map((hour) => {
    const time = hour12
      ? `${((hour + 11) % 12) + 1}:00 ${hour < 12 ? 'AM' : 'PM'}`
      : `${String(hour).padStart(2, '0')}:00`;
    return { name: `time-${hour}`, title: time };
  });
}

export const readyTick: TickTitle = { name: 'ready', title: 'All of this is so' };

export const lockedPermissions: readonly TickTitle[] = shortcuts.map(({ name }) => ({
  name: `privacy-${name.replace(' ', '-')}`,
  title: name,
}));

export const arrivedTick: TickTitle = { name: 'arrived', title: 'The second phone got the test text' };

export const receivedTick: TickTitle = {
  name: 'received-locked',
  title: 'A text came in while it was locked',
};

export const chargerTick: TickTitle = { name: 'charger', title: 'Charger' };

const automation = 'In Shortcuts: Automation, +,';
const runsOutbox = 'Run Immediately, Next, Ownline Outbox.';

/** All of them in the order of the page, with titles for a list of their own. */
export function handTicks(phoneNumber: string): readonly HandTick[] {
  return [
    {
      name: readyTick.name,
      title: 'The iPhone is ready',
      remedy: 'Keep it on a charging cable, with iMessage on and Low Power Mode off.',
    },
    ...lockedPermissions.map(({ name, title }) => ({
      name,
      title: `${title} may run while locked`,
      remedy: `In Shortcuts: hold your finger on ${title}, Edit, the i in a circle, Privacy. Switch on Allow Running When Locked, then tap Done.`,
    })),
    {
      ...arrivedTick,
      remedy: 'If it did not, look in Messages on this iPhone: is the text marked Not Delivered?',
    },
    ...restartTimes(phoneNumber).map(({ name, title }) => ({
      name,
      title: `Automation at ${title} starts Ownline Outbox`,
      remedy: `${automation} Time of Day, ${title}, Daily, ${runsOutbox}`,
    })),
    {
      ...chargerTick,
      title: 'Automation of the charger starts Ownline Outbox',
      remedy: `${automation} Charger, Is Connected, ${runsOutbox}`,
    },
    {
      ...receivedTick,
      remedy:
        'Lock the iPhone, text Hi to it, wait a minute, and ask a person of the team whether it came in.',
    },
  ];
}

/** Inbound tests of texts that ask for one letter or digit, in the order of the question about them. */
const askedTests = ['y', 'c', '1', '2'];

/** The answer to that question: each letter or digit that texts of the team ask for, or none of them. */
export const askedNone = 'asked-none';
export const askedTick = (test: string) => `asked-${test}`;
export const isAsked = (test: string) => askedTests.includes(test);
const askedNames = askedTests.map(askedTick);

/** Inbound tests that were chosen. */
export const chosenTests = (ticked: readonly string[]) =>
  askedTests.filter((test) => ticked.includes(askedTick(test)));

/** Names of all squares, whatever the number is. */
export const handTickNames: readonly string[] = [
  ...handTicks('').map(({ name }) => name),
  askedNone,
  ...askedNames,
];

/** Squares that lose their tick to this one: “none” does not stand beside a letter. */
export function excludedBy(name: string): readonly string[] {
  if (name === askedNone) return askedNames;
  return askedNames.includes(name) ? [askedNone] : [];
}

export interface ChangedTicks {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * The squares that a form changes. Another page of the link may have changed the others since. A form with “none” and a
 * letter keeps the letter.
 * @param ticked the squares that the form has ticked
 * @param kept those that the server had when the page of the form was made
 */
export function changedTicks(ticked: readonly string[], kept: readonly string[]): ChangedTicks {
  const chosen = chosenTests(ticked).length > 0 ? ticked.filter((name) => name !== askedNone) : ticked;
  const added = chosen.filter((name) => !kept.includes(name));
  const excluded = added.flatMap(excludedBy);
  const isRemoved = (name: string) =>
    excluded.includes(name) || (kept.includes(name) && !chosen.includes(name));
  return { added, removed: handTickNames.filter(isRemoved) };
}

/** The field of a form with the squares that were kept when its page was made, divided by spaces. */
export const keptField = 'kept';

/** The field of a form that has a tick. */
export const tickField = (name: string) => `made-${name}`;
