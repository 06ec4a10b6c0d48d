import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useBrowserSetting } from '#web/kit/browser-setting.ts';
import { Card } from '#web/kit/card.tsx';
import { Checkbox } from '#web/kit/checkbox.tsx';
import { notify } from '#web/kit/toast.tsx';
import { numberName } from '#web/numbers/number-name.ts';
import { numbersQuery } from '#web/numbers/number-queries.ts';
import { useTeam } from '#web/shell/session.ts';
import { changeSettings, notificationSettings, notificationState, turnOn } from './notification-settings.ts';
import { texts } from './texts.ts';
import { playTone } from './tone.ts';

/** Settings of notifications and of the sound, which this browser keeps. */
export function NotificationsCard(): ReactNode {
  const team = useTeam();
  const { isOn, muted, hasText, hasSound } = useBrowserSetting(notificationSettings);
  const numbers = useQuery(numbersQuery(team.id)).data?.numbers ?? [];
  const state = notificationState();
  const { insecure, unsupported, denied } = texts;
  const hindrance = { insecure, unsupported, denied, default: undefined, granted: undefined }[state];
  const isShown = isOn && state === 'granted';
  const show = async (wanted: boolean) => {
    if (!wanted) changeSettings({ isOn: false });
    else if (!(await turnOn(texts.on))) notify(texts.notShown);
  };
  return (
    <Card title={texts.title} description={texts.description}>
      <div className="flex flex-col gap-3">
        <Checkbox
          label={texts.show}
          hint={hindrance}
          isOn={isShown}
          isDisabled={hindrance !== undefined}
          onChange={(wanted) => void show(wanted)}
        />
        {isShown && (
          <Checkbox
            label={texts.text}
            hint={texts.textHint}
            isOn={hasText}
            onChange={(wanted) => changeSettings({ hasText: wanted })}
          />
        )}
        <Checkbox
          label={texts.sound}
          hint={texts.soundHint}
          isOn={hasSound}
          onChange={(wanted) => {
            changeSettings({ hasSound: wanted });
            if (wanted) playTone();
          }}
        />
        {(isShown || hasSound) && numbers.length > 1 && (
          <fieldset className="flex flex-col gap-2">
            <legend className="mb-2 font-medium">{texts.numbers}</legend>
            {numbers.map((number) => (
              <Checkbox
                key={number.id}
                label={numberName(number)}
                isOn={!muted.includes(number.phone_number)}
                onChange={(wanted) => {
                  const others = muted.filter((one) => one !== number.phone_number);
                  changeSettings({ muted: wanted ? others : [...others, number.phone_number] });
                }}
              />
            ))}
          </fieldset>
        )}
      </div>
    </Card>
  );
}
