import { shortcuts } from '#shortcut/shortcuts.ts';

/** A hand tick: something that only the person at the iPhone can see. */
export interface HandTick {
  /** A name that is unique on the page. */
  readonly name: string;
  readonly title: string;
  /** The way to do the same once the page is closed, as a sentence. */
  readonly remedy: string;
}

/** Hours of the day at which automations start Ownline Outbox. */
const restartHours = [8, 12, 16, 20];

/** A line to tick, with a title that fits below the heading of its step. */
export type TickTitle = Pick<HandTick, 'name' | 'title'>;

/** Times of day as iPhones in the number's country show them: `8:00 AM` for calling code 1, otherwise `08:00`. */
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

/** All hand ticks in the order of the page, with titles that are clear outside their step. */
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

/** Inbound tests for the letters and digits that a team's texts may ask for, in the order of the page's question. */
const askedTests = ['y', 'c', '1', '2'];

/** The answer “none” to the question which letters or digits the team's texts ask for. */
export const askedNone = 'asked-none';
export const askedTick = (test: string) => `asked-${test}`;
export const isAsked = (test: string) => askedTests.includes(test);
const askedNames = askedTests.map(askedTick);

/** The inbound tests that the person chose in the question which letters or digits texts ask for. */
export const chosenTests = (ticked: readonly string[]) =>
  askedTests.filter((test) => ticked.includes(askedTick(test)));

/** Names of all hand ticks and answers; they do not depend on the number. */
export const handTickNames: readonly string[] = [
  ...handTicks('').map(({ name }) => name),
  askedNone,
  ...askedNames,
];

/** Names of the ticks that are removed when this one is set: “none” excludes every letter and digit. */
export function excludedBy(name: string): readonly string[] {
  if (name === askedNone) return askedNames;
  return askedNames.includes(name) ? [askedNone] : [];
}

export interface ChangedTicks {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Returns the ticks that a form adds and removes. Other ticks stay, because another page of the link may have changed
 * them. If a form has “none” and a letter, the letter counts.
 * @param ticked the ticks in the form
 * @param kept the ticks that the server had when the form was made
 */
export function changedTicks(ticked: readonly string[], kept: readonly string[]): ChangedTicks {
  const chosen = chosenTests(ticked).length > 0 ? ticked.filter((name) => name !== askedNone) : ticked;
  const added = chosen.filter((name) => !kept.includes(name));
  const excluded = added.flatMap(excludedBy);
  const isRemoved = (name: string) =>
    excluded.includes(name) || (kept.includes(name) && !chosen.includes(name));
  return { added, removed: handTickNames.filter(isRemoved) };
}

/** The form field with the ticks that were stored when its page was made, separated by spaces. */
export const keptField = 'kept';

/** The form field of one tick. */
export const tickField = (name: string) => `made-${name}`;
