import './setup.css';
import { type ReactNode, StrictMode, useEffect, useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { type Language, languages } from '#contract/language.ts';
import type { FileForm } from '#contract/setup.ts';
import { localeFor } from '#web/kit/format.ts';
import { Brand } from '#web/shell/brand.tsx';
// This import makes the page follow the system's theme while it is open.
import '#web/shell/theme.ts';
import { AddressNote } from './address-note.tsx';
import { ClosedPage, OverPage } from './closed-page.tsx';
import { ComputerView } from './computer-view.tsx';
import { PhoneView } from './phone-view.tsx';
import { SetupConnection } from './setup-connection.ts';
import { numberOf, SetupContext, useSetup } from './setup-context.ts';
import { keepLanguage, loadTexts, preferredLanguage } from './texts.ts';

const view = new URLSearchParams(location.search).get('view');
const isPhone = view === 'phone' || (view !== 'computer' && navigator.userAgent.includes('iPhone'));

/** Chooses the steps for the browser's iOS by Safari's version. Since iOS 26, Safari says 18.6 as the system's version. */
function browserForm(): FileForm | undefined {
  const version = /iPhone.* Version\/(\d+)/.exec(navigator.userAgent)?.[1];
  return version === undefined ? undefined : Number(version) >= 27 ? 27 : 26;
}

const connection = new SetupConnection();
void connection.follow();
const preferred = preferredLanguage();
const first = { language: preferred, texts: await loadTexts(preferred) };
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <SetupApp />
  </StrictMode>,
);

function SetupApp(): ReactNode {
  const [{ language, texts }, speak] = useState(first);
  const { phase, ...snapshot } = useSyncExternalStore(connection.subscribe, connection.snapshot);
  const { state } = snapshot;
  useEffect(() => {
    document.documentElement.lang = language;
    if (state) document.title = `${texts.title({ number: numberOf(state) })} · Ownline`;
  });
  const change = async (next: Language) => {
    keepLanguage(next);
    speak({ language: next, texts: await loadTexts(next) });
  };
  const form = state?.form ?? browserForm();
  return (
    <SetupContext value={{ texts, locale: localeFor(language), connection, form, ...snapshot }}>
      <header className="mx-auto flex max-w-5xl items-center justify-between gap-3 px-4 pt-6">
        <Brand />
        <select
          aria-label={texts.language}
          value={language}
          onChange={({ target }) => void change(target.value as Language)}
          className="h-11 rounded-lg border border-line-strong bg-surface px-2"
        >
          {Object.entries(languages).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </header>
      <main className="mx-auto max-w-5xl px-4 pt-4 pb-16">
        {phase === 'over' ? <OverPage /> : state && (phase === 'closed' ? <ClosedPage /> : <OpenPage />)}
      </main>
    </SetupContext>
  );
}

/** The page of an open link: what is wrong with the address, and the steps or the progress. */
function OpenPage(): ReactNode {
  const { texts, state, isConnected } = useSetup();
  const { number, address } = state;
  // No iPhone can open an address of the server's own machine.
  const isHopeless = address.problem === 'loopback' && view === null;
  const title = texts.title({ number: numberOf(state) });
  return (
    <div className={isPhone ? 'mx-auto max-w-lg' : ''}>
      <h1 className="text-2xl leading-tight font-semibold">{title}</h1>
      <p className="text-quiet empty:hidden">
        <bdi>{number.label}</bdi>
      </p>
      <p role="status" className="sticky top-0 z-10 text-sm text-warn-ink">
        {!isConnected && <span className="block bg-warn-tint px-3 py-2">{texts.offline}</span>}
      </p>
      <AddressNote isHopeless={isHopeless} />
      {!isHopeless && (isPhone ? <PhoneView /> : <ComputerView />)}
    </div>
  );
}
