import { drawScreen, type ScreenRow } from './draw-screen.ts';

/** The question of a shortcut that is added. @param title the name of the shortcut */
export const importQuestion = (title: string) =>
  drawScreen({
    label: 'Shortcuts asks for the setup code; paste it and tap Add Shortcut',
    title,
    left: 'Cancel',
    rows: [
      { kind: 'text', text: 'Setup code' },
      { kind: 'field', text: 'Paste the setup code', tap: true },
      { kind: 'button', text: 'Add Shortcut', tap: true },
    ],
  });

/** The settings of a trigger, which end with Next. */
const triggerSettings = (label: string, rows: readonly ScreenRow[]) =>
  drawScreen({ label, title: 'When', right: 'Next', tapRight: true, rows });

const runImmediately = { kind: 'choice', text: 'Run Immediately', isOn: true, tap: true } as const;

/** The list of shortcuts at the end of an automation, with one of both to tap. */
const chooseShortcut = (name: 'Ownline Inbound' | 'Ownline Outbox', title?: string) =>
  drawScreen({
    label: `The list of shortcuts; tap ${name} below My Shortcuts`,
    title,
    rows: [
      { kind: 'row', text: 'New Blank Automation' },
      { kind: 'text', text: 'My Shortcuts' },
      { kind: 'row', text: 'Ownline Inbound', tap: name === 'Ownline Inbound' },
      { kind: 'row', text: 'Ownline Outbox', tap: name === 'Ownline Outbox' },
    ],
  });

/** The drawings of the setup page: the screens of Shortcuts with the thing to tap marked. */
export const screens = {
  addShortcut: drawScreen({
    label: 'Shortcuts shows the shortcut; tap Add Shortcut',
    title: 'Shortcut',
    left: 'Cancel',
    rows: [
      { kind: 'text', text: 'This shortcut may use data from …' },
      { kind: 'button', text: 'Add Shortcut', tap: true },
    ],
  }),
  alwaysAllow: drawScreen({
    label: 'A question of iOS with three answers; tap Always Allow',
    rows: [
      { kind: 'text', text: 'Allow “Ownline Outbox” to …?' },
      { kind: 'button', text: 'Don’t Allow' },
      { kind: 'button', text: 'Allow Once' },
      { kind: 'button', text: 'Always Allow', tap: true },
    ],
  }),
  privacy: drawScreen({
    label: 'Privacy settings of Ownline Outbox; switch on running while locked',
    title: 'Privacy',
    right: 'Done',
    rows: [
      { kind: 'row', text: 'Messages', value: 'Allow' },
      { kind: 'switch', text: 'Allow Running When Locked', isOn: true, tap: true },
    ],
  }),
  automationTab: drawScreen({
    label: 'The Shortcuts app; tap Automation at the bottom, then the plus sign at the top',
    title: 'Automation',
    right: '+',
    tapRight: true,
    rows: [{ kind: 'text', text: 'Automations on this iPhone' }],
    tabs: { names: ['Shortcuts', 'Automation', 'Gallery'], tap: 1 },
  }),
  chooseMessage: drawScreen({
    label: 'The list of triggers; tap Message',
    title: 'New Automation',
    left: 'Cancel',
    rows: [
      { kind: 'row', text: 'Time of Day' },
      { kind: 'row', text: 'Email' },
      { kind: 'row', text: 'Message', tap: true },
    ],
  }),
  messageContains: triggerSettings(
    'Message trigger; paste into Message Contains, choose Run Immediately, tap Next',
    [
      { kind: 'row', text: 'Sender', value: 'Any' },
      { kind: 'row', text: 'Message Contains', value: '“e”', tap: true },
      { kind: 'choice', text: 'Run After Confirmation', isOn: false },
      runImmediately,
    ],
  ),
  chooseInbound: chooseShortcut('Ownline Inbound', 'When I get a message'),
  timeOfDay: triggerSettings('Time of Day trigger; choose a time, Daily and Run Immediately, tap Next', [
    { kind: 'row', text: 'Time', value: '08:00', tap: true },
    { kind: 'choice', text: 'Daily', isOn: true },
    runImmediately,
  ]),
  charger: triggerSettings('Charger trigger; choose Is Connected and Run Immediately, tap Next', [
    { kind: 'choice', text: 'Is Connected', isOn: true, tap: true },
    { kind: 'choice', text: 'Is Disconnected', isOn: false },
    runImmediately,
  ]),
  chooseOutbox: chooseShortcut('Ownline Outbox'),
} as const;
