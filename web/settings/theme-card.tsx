import { type ReactNode, useState } from 'react';
import { Card } from '#web/kit/card.tsx';
import { Segments } from '#web/kit/segments.tsx';
import { chooseTheme, chosenTheme, type Theme, themes } from '#web/shell/theme.ts';

const names = { system: 'System', light: 'Light', dark: 'Dark' } as const satisfies Record<Theme, string>;

export function ThemeCard(): ReactNode {
  const [chosen, setChosen] = useState(chosenTheme);
  return (
    <Card
      title="Appearance"
      description="In this browser, the pages for signing in included. System follows your device."
    >
      <div className="flex">
        <Segments
          label="Theme"
          options={themes.map((theme) => names[theme])}
          chosen={names[chosen]}
          onChoose={(name) => {
            const theme = themes.find((one) => names[one] === name) ?? 'system';
            chooseTheme(theme);
            setChosen(theme);
          }}
        />
      </div>
    </Card>
  );
}
