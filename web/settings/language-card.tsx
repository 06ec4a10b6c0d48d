import type { ReactNode } from 'react';
import { isLanguage, type Language, languageCookie, languages } from '#contract/language.ts';
import { basePath } from '#web/api/base-path.ts';
import { Card } from '#web/kit/card.tsx';
import { Segments } from '#web/kit/segments.tsx';
import { texts } from './texts.ts';

/** Keeps the language in this browser, and loads the page in it: each language is a build of its own. */
function choose(language: Language): void {
  // biome-ignore lint/suspicious/noDocumentCookie: Safari before 18.4 and pages on plain http have no cookieStore
  document.cookie = `${languageCookie}=${language}; path=${basePath}/; max-age=31536000; samesite=lax`;
  location.reload();
}

export function LanguageCard(): ReactNode {
  const { lang } = document.documentElement;
  const codes = Object.keys(languages).filter(isLanguage);
  return (
    <Card title={texts.language.title} description={texts.language.description}>
      <div className="flex">
        <Segments
          label={texts.language.title}
          options={codes.map((code) => languages[code])}
          chosen={isLanguage(lang) ? languages[lang] : languages.en}
          onChoose={(name) => choose(codes.find((code) => languages[code] === name) ?? 'en')}
        />
      </div>
    </Card>
  );
}
