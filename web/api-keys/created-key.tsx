import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { MadeApiKey } from '#contract/api-key.ts';
import { testLine } from '#contract/test-line.ts';
import { basePath } from '#web/api/base-path.ts';
import { CodeBlock } from '#web/kit/code-block.tsx';
import { CopyRow } from '#web/kit/copy.tsx';
import { Segments } from '#web/kit/segments.tsx';
import { Hint } from '#web/kit/text.tsx';
import { numbersQuery } from '#web/numbers/number-queries.ts';
import { realFirst } from '#web/numbers/real-first.ts';
import { useTeam } from '#web/shell/session.ts';
import { firstRequest, type Language, languages, renderSample } from './request-samples.ts';
import { texts } from './texts.ts';

/** Shows a new key and a sample request that its permissions allow. */
export function CreatedKey({ made }: { readonly made: MadeApiKey }): ReactNode {
  const team = useTeam();
  const { data, isPending } = useQuery(numbersQuery(team.id));
  const [language, setLanguage] = useState<Language>('curl');
  const sender = realFirst(data?.numbers ?? []).find(({ verified }) => verified);
  const from = made.test ? testLine : sender?.phone_number;
  // Before the numbers have loaded, the sample would name a placeholder, and a quick copy would be refused.
  const isReady = made.test || !isPending;
  const to = made.test ? '+15005550101' : '+14155550123';
  const first = isReady ? firstRequest(made.permissions, from ?? '+14155550100', to) : undefined;
  const url = `${location.origin}${basePath}`;
  return (
    <div className="flex flex-col gap-5">
      <CopyRow value={made.key} what={texts.created.theKey} />
      {first && (
        <div className="flex flex-col gap-2">
          <div className="flex items-center justify-between gap-3">
            <h3 className="font-medium">{first.body ? texts.created.sendFirst : texts.created.makeFirst}</h3>
            <Segments
              label={texts.created.language}
              options={languages}
              chosen={language}
              onChoose={setLanguage}
            />
          </div>
          <CodeBlock
            title={language}
            text={renderSample[language](first, url, made.key)}
            what={texts.created.theRequest}
          />
          {first.body && (
            <Hint>
              {from === undefined
                ? texts.created.noNumber
                : made.test
                  ? texts.created.testNumber({ from })
                  : sender?.simulated
                    ? texts.created.simulated({ from })
                    : texts.created.replace}
            </Hint>
          )}
        </div>
      )}
    </div>
  );
}
