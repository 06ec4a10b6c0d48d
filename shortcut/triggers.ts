import { nameBasedUuid } from './name-based-uuid.ts';
import type { PropertyDictionary } from './property-list/property-list.ts';

/** An automation that is part of a shortcut since iOS 27. It travels in the file and in the iCloud link. */
export interface Trigger {
  readonly identifier: string;
  readonly parameters: PropertyDictionary;
}

/** Starts the shortcut for each received message that contains a text; case and accents do not count. */
export const messageContains = (text: string): Trigger => ({
  identifier: 'WFMessageTrigger',
  parameters: {
    WFMessageConditions: {
      WFSerializationType: 'WFContentPredicateTableTemplate',
      Value: {
        WFActionParameterFilterPrefix: 1,
        WFContentPredicateBoundedDate: false,
        WFActionParameterFilterTemplates: [
          { Operator: 1, Property: 'Message', Removable: false, Values: { Text: text } },
        ],
      },
    },
  },
});

/** Starts the shortcut when the charging cable is plugged in, and when it is pulled out. */
export const charger: Trigger = {
  identifier: 'WFPlugInTrigger',
  parameters: { WFConnectionType: 'both' },
};

/** Starts the shortcut when the iPhone joins a Wi-Fi network, whichever it is. */
export const anyWifi: Trigger = { identifier: 'WFWifiTrigger', parameters: {} };

/**
 * Starts the shortcut every six hours, in each time zone: a file has absolute times, and can't know the zone of its
 * iPhone. The day is the one that Shortcuts itself writes.
 */
export const everySixHours: readonly Trigger[] = ['00', '06', '12', '18'].map((hour) => ({
  identifier: 'WFTimeOfDayTrigger',
  parameters: { WFTime: new Date(`0000-12-30T${hour}:00:00Z`), WFTimeEvent: 'time' },
}));

/** The settings of an automation that runs at once, without a question and without a banner of its own. */
const runImmediately = { __enabled__: true, __notify__: false, __show_confirmation__: false };

/** @param name of the shortcut, from which the UUIDs of its triggers are derived */
export function encodeTriggers(name: string, triggers: readonly Trigger[]): readonly PropertyDictionary[] {
  return triggers.map(({ identifier, parameters }, index) => ({
    WFTriggerIdentifier: identifier,
    WFTriggerUUID: nameBasedUuid(`${name}/trigger ${index}`),
    WFTriggerSerializedParameters: { ...runImmediately, ...parameters },
  }));
}
