import { useQuery } from '@tanstack/react-query';
import { Clock, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { rereadEvery } from '#web/api/query-client.ts';
import { homeQuery } from '#web/home/home-queries.ts';
import { Button, buttonStyle } from '#web/kit/button.tsx';
import { nowMs } from '#web/kit/clock.ts';
import { CopyRow } from '#web/kit/copy.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { exactTime } from '#web/kit/format.ts';
import { QrCode } from '#web/kit/qr-code.tsx';
import { useTeam } from '#web/shell/session.ts';
import { ConnectProgress } from './connect-progress.tsx';
import { firstPollRereadMs, publishedShortcutsQuery } from './number-queries.ts';
import { isOwnAddress } from './own-address.ts';
import { texts } from './texts.ts';
import { UnpublishedNote } from './unpublished-note.tsx';

/** A new setup link. The server keeps only its hash, so it is shown until the dialog closes. */
export interface MadeLink {
  readonly url: string;
  readonly phoneNumber: string;
  readonly expiresAt: string;
}

/** A setup link, or after a reload only its number: the setup page may have been opened on the same iPhone. */
export type ShownLink = MadeLink | Pick<MadeLink, 'phoneNumber'>;

/** The validity of a setup link in ms (specification section 4.2). */
const linkMs = 24 * 3_600_000;

export function madeLink(url: string, phoneNumber: string): MadeLink {
  return { url, phoneNumber, expiresAt: new Date(nowMs() + linkMs).toISOString() };
}

/** Shows the setup link as a QR code and as text until a phone claims it, and the progress of that phone. */
export function SetupLinkView({
  link,
  onRenew,
}: {
  readonly link: ShownLink;
  readonly onRenew: () => void;
}): ReactNode {
  const team = useTeam();
  const published = useQuery(publishedShortcutsQuery(team.id));
  const home = useQuery({ ...homeQuery(team.id), refetchInterval: rereadEvery(() => firstPollRereadMs) });
  const number = home.data?.numbers.find(({ phone_number }) => phone_number === link.phoneNumber);
  const progress = number?.setup_link ?? 'unopened';
  if (progress === 'ended') {
    return (
      <Note tone="warn">
        <p>{texts.setup.ended}</p>
        <Button size="small" className="mt-2.5" onClick={onRenew}>
          {texts.setup.createAnother}
        </Button>
      </Note>
    );
  }
  if (!('url' in link)) {
    return (
      <div className="flex flex-col gap-5">
        <ConnectProgress progress={progress} number={number} />
        {progress === 'unopened' && (
          <Note tone="warn">
            <p>{texts.setup.shownOnce}</p>
            <Button size="small" className="mt-2.5" onClick={onRenew}>
              {texts.setup.createAnother}
            </Button>
          </Note>
        )}
      </div>
    );
  }
  const isReachable = !isOwnAddress(link.url);
  // The code is shown only once the note above it has loaded, because the note may say that something is missing.
  const isCodeShown = progress === 'unopened' && isReachable && !published.isPending;
  return (
    <div className="flex flex-col gap-5">
      {progress === 'unopened' && !isReachable && <UnreachableNote url={link.url} />}
      {isCodeShown && <UnpublishedNote />}
      {isCodeShown && (
        <a href={link.url} className={`${buttonStyle({ look: 'primary' })} sm:hidden`}>
          {texts.setup.openHere}
        </a>
      )}
      <div className="flex items-center gap-6 max-sm:flex-col max-sm:gap-4">
        {isCodeShown && <QrCode text={link.url} label={texts.setup.code} />}
        <div className="flex min-w-0 flex-1 flex-col gap-4 self-stretch sm:justify-center">
          {isCodeShown && <p className="max-sm:text-center">{texts.setup.scan}</p>}
          {(progress !== 'unopened' || isReachable) && (
            <ConnectProgress progress={progress} number={number} />
          )}
        </div>
      </div>
      {progress === 'unopened' && (
        <div className="flex flex-col gap-2">
          <CopyRow value={link.url} what={texts.setup.theLink} />
          <p className="flex items-center gap-1.5 text-[0.8125rem] text-quiet">
            <Clock aria-hidden="true" className="size-3.5 shrink-0" />
            {texts.setup.goodUntil({ at: exactTime(link.expiresAt) })}
          </p>
        </div>
      )}
    </div>
  );
}

function UnreachableNote({ url }: { readonly url: string }) {
  return (
    <Note tone="warn" icon={<TriangleAlert />}>
      <p className="font-semibold">{texts.setup.unreachable({ host: new URL(url).host })}</p>
      <p>{texts.setup.whyUnreachable}</p>
    </Note>
  );
}
