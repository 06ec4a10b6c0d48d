import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CopyButton } from '#web/kit/copy.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { useTeam } from '#web/shell/session.ts';
import { publishedShortcutsQuery } from './number-queries.ts';

const forms = [
  { key: 'ios_26', ios: 'iOS 17 to 26', settings: 'SHORTCUT_OUTBOX_URL and SHORTCUT_INBOUND_URL' },
  { key: 'ios_27', ios: 'iOS 27', settings: 'SHORTCUT_OUTBOX_27_URL and SHORTCUT_INBOUND_27_URL' },
] as const;

/** Says before an iPhone is connected that the operator has not published the shortcuts for its iOS. */
export function UnpublishedNote(): ReactNode {
  const team = useTeam();
  const { data } = useQuery(publishedShortcutsQuery(team.id));
  const missing = forms.filter(({ key }) => data?.[key] === 'by_hand');
  const [first] = missing;
  if (!first) return null;
  const isOne = missing.length === 1;
  const which = isOne ? ` for ${first.ios}` : '';
  const message =
    `Please publish the shortcuts of Ownline${which}: share both as iCloud links from one iPhone, and set ` +
    `${missing.map(({ settings }) => settings).join(', ')}; or set SHORTCUT_SIGN_COMMAND. ` +
    'docs/iphone.md of Ownline has the steps. Until then, a technician builds them by hand on each iPhone, for an hour.';
  return (
    <Note tone="warn">
      <p className="font-semibold">The shortcuts{which} are not published yet</p>
      <p>
        On {isOne ? `an iPhone with ${first.ios}` : 'each iPhone'}, a technician has to build them by hand,
        for an hour. The operator of this server publishes them once: as iCloud links from one iPhone, or with
        a command that signs them (docs/iphone.md of Ownline).
      </p>
      <div className="mt-2.5">
        <CopyButton text={message} label="Copy a message for the operator" />
      </div>
    </Note>
  );
}
