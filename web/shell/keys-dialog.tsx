import type { ReactNode } from 'react';
import { Dialog, type DialogState } from '#web/kit/dialog.tsx';
import { texts } from './texts.ts';

const { keys } = texts;
const shift = '⇧';
const command = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl';

/** The keys of the dashboard: alternatives are in one line, and keys that are pressed together are joined by a plus. */
const groups: readonly (readonly [string, readonly (readonly [readonly string[], string])[]])[] = [
  [
    keys.anywhere,
    [
      [[`${command} + K`], keys.go],
      [['?'], keys.help],
    ],
  ],
  [
    keys.inConversations,
    [
      [['↑', '↓'], keys.through],
      [['Enter'], keys.open],
      [['Alt + ↑', 'Alt + ↓'], keys.neighbour],
      [['Esc'], keys.back],
      [['E'], keys.done],
    ],
  ],
  [
    keys.whileWriting,
    [
      [['Enter'], keys.send],
      [[`${shift} + Enter`], keys.newLine],
    ],
  ],
];

export function KeysDialog(state: DialogState): ReactNode {
  return (
    <Dialog {...state} title={keys.title}>
      <div className="flex flex-col gap-5">
        {groups.map(([title, rows]) => (
          <section key={title}>
            <h3 className="mb-1.5 text-xs font-medium text-quiet">{title}</h3>
            <dl className="flex flex-col gap-2">
              {rows.map(([combinations, effect]) => (
                <div key={effect} className="flex items-baseline justify-between gap-4">
                  <dd>{effect}</dd>
                  <dt className="order-last flex shrink-0 gap-1.5">
                    {combinations.map((combination) => (
                      <kbd
                        key={combination}
                        className="rounded-md border border-line bg-sunken px-1.5 py-0.5 font-sans text-xs font-medium"
                      >
                        {combination}
                      </kbd>
                    ))}
                  </dt>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
