import { shortcuts } from '#shortcut/shortcuts.ts';

/** Something that only the person at the iPhone sees, and ticks. */
export interface HandTick {
  /** Unique on the page. */
  readonly name: string;
  readonly title: string;
}

/** Hours of the day at which automations start Ownline Outbox again. */
const restartHours = [8, 12, 16, 20];

/** A time of day as iPhones of the number's country show it: `8:00 AM` where its calling code is 1, otherwise `08:00`. */
export function restartTimes(phoneNumber: string): readonly HandTick[] {
  const hour12 = phoneNumber.startsWith('+1');
  return restartHours.map((hour) => {
    const time = hour12
      ? `${((hour + 11) % 12) + 1}:00 ${hour < 12 ? 'AM' : 'PM'}`
      : `${String(hour).padStart(2, '0')}:00`;
    return { name: `time-${hour}`, title: time };
  });
}

export const lockedPermissions: readonly HandTick[] = shortcuts.map(({ name }) => ({
  name: `privacy-${name.replace(' ', '-')}`,
  title: name,
}));

export const chargerTick: HandTick = { name: 'charger', title: 'Charger' };

/** All of them, with titles for a list of their own. */
export function handTicks(phoneNumber: string): readonly HandTick[] {
  return [
    ...lockedPermissions.map(({ name, title }) => ({ name, title: `${title} may run while locked` })),
    ...restartTimes(phoneNumber).map(({ name, title }) => ({
      name,
      title: `Automation at ${title} starts Ownline Outbox`,
    })),
    { ...chargerTick, title: 'Automation of the charger starts Ownline Outbox' },
  ];
}

/** The field of a form that has a tick. */
export const tickField = (name: string) => `made-${name}`;

/** Names of the fields, whatever the number is. */
export const tickFields: readonly string[] = handTicks('').map(({ name }) => tickField(name));
