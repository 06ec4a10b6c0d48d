import { drawScreen, type ScreenRow } from './draw-screen.ts';

/** The question that a shortcut asks when it is added. @param title the name of the shortcut */
export const importQuestion = (title: string) =>
  drawScreen({
    label: 'Shortcuts asks for the setup code; paste it and tap Add Shortcut',
    title,
    left: 'Cancel',
    rows: [
      { kind: 'text', text: 'Setup code' },
      { kind: 'field', text: 'Paste the setup code', tap: 1 },
      { kind: 'button', text: 'Add Shortcut', tap: 2 },
    ],
  });

/** Safari's list of downloads. @param title the name of the shortcut */
export const download = (title: string) =>
  drawScreen({
    label: `Safari: tap Download, then the arrow beside the address, then Downloads, then ${title}`,
    rows: [
      { kind: 'button', text: 'Download', tap: 1 },
      { kind: 'sign', text: '↓', beside: 'The arrow beside the address', tap: 2 },
      { kind: 'row', text: 'Downloads', tap: 3 },
      { kind: 'row', text: `${title}.shortcut`, tap: 4 },
    ],
  });

/** Draws a trigger's settings, which end with the button Next. */
const triggerSettings = (label: string, tapNext: number, rows: readonly ScreenRow[]) =>
  drawScreen({ label, title: 'When', right: 'Next', tapRight: tapNext, rows });

const runImmediately = (tap: number) =>
  ({ kind: 'choice', text: 'Run Immediately', isOn: true, tap }) as const;

/** Draws the list of shortcuts at the end of an automation, with the shortcut to tap. */
const chooseShortcut = (name: 'Ownline Inbound' | 'Ownline Outbox', title?: string) => {
  const row = (text: string): ScreenRow => ({ kind: 'row', text, ...(text === name && { tap: 1 }) });
  return drawScreen({
    label: `The list of shortcuts; tap ${name} below My Shortcuts`,
    title,
    rows: [
      { kind: 'row', text: 'New Blank Automation' },
      { kind: 'text', text: 'My Shortcuts' },
      row('Ownline Inbound'),
      row('Ownline Outbox'),
    ],
  });
};

/** @param contains the text of *Message Contains*; a space is invisible there */
export const messageContains = (contains: string) =>
  triggerSettings('Message trigger; paste into Message Contains, choose Run Immediately, tap Next', 3, [
    { kind: 'row', text: 'Sender', value: 'Any' },
    { kind: 'row', text: 'Message Contains', value: `“${contains}”`, tap: 1 },
    { kind: 'choice', text: 'Run After Confirmation', isOn: false },
    runImmediately(2),
  ]);

/** @param time as the iPhone shows it */
export const timeOfDay = (time: string) =>
  triggerSettings('Time of Day trigger; choose a time, Daily and Run Immediately, tap Next', 4, [
    { kind: 'row', text: 'Time', value: time, tap: 1 },
    { kind: 'choice', text: 'Daily', isOn: true, tap: 2 },
    runImmediately(3),
  ]);

/** Draws the list of triggers. @param tapped the trigger to tap */
export const chooseTrigger = (tapped: 'Message' | 'Time of Day' | 'Charger') =>
  drawScreen({
    label: `The list of triggers; tap ${tapped}`,
    title: 'New Automation',
    left: 'Cancel',
    rows: ['Time of Day', 'Message', 'Charger'].map((text) => ({
      kind: 'row',
      text,
      ...(text === tapped && { tap: 1 }),
    })),
  });

/** Draws the list of shortcuts. @param title the shortcut whose three dots to tap */
export const threeDots = (title: string) =>
  drawScreen({
    label: `The Shortcuts app; tap the three dots on ${title}`,
    title: 'Shortcuts',
    rows: ['Ownline Outbox', 'Ownline Inbound'].map((text) => ({
      kind: 'tile',
      text,
      ...(text === title && { tap: 1 }),
    })),
  });

/** Draws a shortcut in the editor, with the sign that opens its information. */
export const information = (title: string) =>
  drawScreen({
    label: 'The opened shortcut; tap the letter i in a circle',
    title,
    right: 'Done',
    rows: [
      { kind: 'row', text: '…' },
      { kind: 'sign', text: 'i', tap: 1 },
    ],
  });

/** The drawings of the setup page: screens of Shortcuts, with numbered marks on what to tap. */
export const screens = {
  addShortcut: drawScreen({
    label: 'Shortcuts shows the shortcut; tap Add Shortcut',
    title: 'Shortcut',
    left: 'Cancel',
    rows: [
      { kind: 'text', text: 'This shortcut may use data from …' },
      { kind: 'button', text: 'Add Shortcut', tap: 1 },
    ],
  }),
  alwaysAllow: drawScreen({
    label: 'A question of iOS with three answers; tap Always Allow',
    rows: [
      { kind: 'text', text: 'Allow “Ownline Outbox” to …?' },
      { kind: 'button', text: 'Don’t Allow' },
      { kind: 'button', text: 'Allow Once' },
      { kind: 'button', text: 'Always Allow', tap: 1 },
    ],
  }),
  running: drawScreen({
    label: 'Shortcuts shows Ownline Outbox as running; leave it so',
    title: 'Shortcuts',
    rows: [
      { kind: 'tile', text: 'Ownline Outbox', isRunning: true },
      { kind: 'text', text: 'It keeps running: do not stop it.' },
    ],
  }),
  details: drawScreen({
    label: 'The details of the shortcut; tap Privacy',
    title: 'Details',
    rows: [{ kind: 'button', text: 'Privacy', tap: 1 }],
  }),
  privacy: drawScreen({
    label: 'Privacy settings of the shortcut; switch on running while locked, then tap Done',
    title: 'Privacy',
    right: 'Done',
    tapRight: 2,
    rows: [
      { kind: 'row', text: 'Messages', value: 'Allow' },
      { kind: 'switch', text: 'Allow Running When Locked', isOn: true, tap: 1 },
    ],
  }),
  automationTab: drawScreen({
    label: 'The Shortcuts app; tap Automation at the bottom, then the plus sign at the top',
    title: 'Automation',
    right: '+',
    tapRight: 2,
    rows: [{ kind: 'text', text: 'Automations on this iPhone' }],
    tabs: { names: ['Shortcuts', 'Automation', 'Gallery'], at: 1, tap: 1 },
  }),
  chooseInbound: chooseShortcut('Ownline Inbound', 'When I get a message'),
  charger: triggerSettings('Charger trigger; choose Is Connected and Run Immediately, tap Next', 3, [
    { kind: 'choice', text: 'Is Connected', isOn: true, tap: 1 },
    { kind: 'choice', text: 'Is Disconnected', isOn: false },
    runImmediately(2),
  ]),
  chooseOutbox: chooseShortcut('Ownline Outbox'),
} as const;
