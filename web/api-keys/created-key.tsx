import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { basePath } from '#web/api/base-path.ts';
import { CopyRow } from '#web/kit/copy.tsx';
import { Segments } from '#web/kit/segments.tsx';
import { numbersQuery } from '#web/numbers/number-queries.ts';
import { useTeam } from '#web/shell/session.ts';

const languages = ['curl', 'Node', 'Python'] as const;
type Language = (typeof languages)[number];

interface Sample {
  readonly url: string;
  readonly apiKey: string;
  readonly from: string;
}

/** The first request, ready to run: with the key and a number of the team. */
const samples: Readonly<Record<Language, (sample: Sample) => string>> = {
  curl: ({ url, apiKey, from }) => `curl ${url}/v1/messages/send \\
  -H 'x-api-key: ${apiKey}' -H 'content-type: application/json' \\
  -d '{"from": "${from}", "to": "+14155550123", "content": "Hello"}'`,
  Node: ({ url, apiKey, from }) => `const answer = await fetch('${url}/v1/messages/send', {
  method: 'POST',
  headers: { 'x-api-key': '${apiKey}', 'content-type': 'application/json' },
  body: JSON.stringify({ from: '${from}', to: '+14155550123', content: 'Hello' }),
});
console.log(answer.status, await answer.json());`,
  Python: ({ url, apiKey, from }) => `import json, urllib.request
request = urllib.request.Request(
    '${url}/v1/messages/send',
    data=json.dumps({'from': '${from}', 'to': '+14155550123', 'content': 'Hello'}).encode(),
    headers={'x-api-key': '${apiKey}', 'content-type': 'application/json'},
)
print(urllib.request.urlopen(request).read().decode())`,
};

/** A key that was just made, and a request with it. */
export function CreatedKey({ apiKey }: { readonly apiKey: string }): ReactNode {
  const team = useTeam();
  const numbers = useQuery(numbersQuery(team.id)).data?.numbers ?? [];
  const [language, setLanguage] = useState<Language>('curl');
  const from = numbers.find(({ verified }) => verified)?.phone_number;
  const sample = samples[language]({
    url: `${location.origin}${basePath}`,
    apiKey,
    from: from ?? '+14155550100',
  });
  return (
    <div className="flex flex-col gap-5">
      <CopyRow value={apiKey} what="the key" />
      <div className="flex flex-col gap-2">
        <div className="flex items-center justify-between gap-3">
          <h3 className="font-medium">Send your first message</h3>
          <Segments label="Language" options={languages} chosen={language} onChoose={setLanguage} />
        </div>
        <CopyRow value={sample} what="the request" />
        {from === undefined && (
          <p className="text-[0.8125rem] text-quiet">
            Replace +14155550100 by a number of the team, once one is connected.
          </p>
        )}
      </div>
    </div>
  );
}
