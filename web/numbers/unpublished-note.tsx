import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CopyButton } from '#web/kit/copy.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { useTeam } from '#web/shell/session.ts';
import { publishedShortcutsQuery } from './number-queries.ts';
import { texts } from './texts.ts';

const forms = [
  { key: 'ios_26', settings: 'SHORTCUT_OUTBOX_URL and SHORTCUT_INBOUND_URL' },
  { key: 'ios_27', settings: 'SHORTCUT_OUTBOX_27_URL and SHORTCUT_INBOUND_27_URL' },
] as const;

/** Says before an iPhone is connected that the operator has not published the shortcuts for its iOS. */
export function UnpublishedNote(): ReactNode {
  const team = useTeam();
  const { data } = useQuery(publishedShortcutsQuery(team.id));
  const missing = forms.filter(({ key }) => data?.[key] === 'by_hand');
  const [first] = missing;
  if (!first) return null;
  const ios = missing.length === 1 ? texts.unpublished.systems[first.key] : undefined;
  const message = texts.unpublished.message({
    please: ios ? texts.unpublished.pleaseFor({ ios }) : texts.unpublished.please,
    settings: missing.map(({ settings }) => settings).join(', '),
  });
  return (
    <Note tone="warn">
      <p className="font-semibold">{ios ? texts.unpublished.titleFor({ ios }) : texts.unpublished.title}</p>
      <p>
        {texts.unpublished.byHand({
          iPhone: ios ? texts.unpublished.iPhoneWith({ ios }) : texts.unpublished.eachIPhone,
        })}
      </p>
      <div className="mt-2.5">
        <CopyButton text={message} label={texts.unpublished.copy} />
      </div>
    </Note>
  );
}
