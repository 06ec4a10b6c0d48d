import { type Trigger, WorkflowError } from './operation.ts';
import type { ParameterReader } from './parameter-reader.ts';

/**
 * Reads the triggers of a shortcut, as iOS 27 does.
 * @throws WorkflowError for an unknown trigger, key or value, a trigger that asks before it runs, and a repeated UUID
 */
export function readTriggers(items: readonly ParameterReader[]): readonly Trigger[] {
  const uuids = new Set<string>();
  return items.map((item) => {
    const kind = item.string('WFTriggerIdentifier');
    const uuid = item.string('WFTriggerUUID');
    if (uuids.has(uuid)) throw new WorkflowError(`two triggers have the UUID ${uuid}`);
    uuids.add(uuid);
    const parameters = item.inside('WFTriggerSerializedParameters');
    item.end();
    parameters.expect('__enabled__', true);
    parameters.expect('__notify__', false);
    parameters.expect('__show_confirmation__', false);
    const trigger = readTrigger(kind, parameters);
    parameters.end();
    return trigger;
  });
}

function readTrigger(kind: string, parameters: ParameterReader): Trigger {
  switch (kind) {
    case 'WFMessageTrigger':
      return { kind: 'message', contains: readMessageText(parameters.inside('WFMessageConditions')) };
    case 'WFPlugInTrigger':
      parameters.expect('WFConnectionType', 'both');
      return { kind: 'charger' };
    case 'WFWifiTrigger':
      return { kind: 'wifi' };
    case 'WFTimeOfDayTrigger':
      parameters.expect('WFTimeEvent', 'time');
      return { kind: 'time', at: parameters.date('WFTime') };
    default:
      throw new WorkflowError(`the trigger ${kind} is unknown`);
  }
}

/** Reads the one condition of a message trigger: the text contains a word. */
function readMessageText(conditions: ParameterReader): string {
  conditions.expect('WFSerializationType', 'WFContentPredicateTableTemplate');
  const table = conditions.inside('Value');
  conditions.end();
  table.expect('WFActionParameterFilterPrefix', 1);
  table.expect('WFContentPredicateBoundedDate', false);
  const [row, ...others] = table.items('WFActionParameterFilterTemplates');
  table.end();
  if (!row || others.length > 0) throw new WorkflowError('a message trigger has no condition, or several');
  row.expect('Operator', 1);
  row.expect('Property', 'Message');
  row.expect('Removable', false);
  const values = row.inside('Values');
  row.end();
  const text = values.string('Text');
  values.end();
  if (text === '') throw new WorkflowError('a message trigger with an empty text never fires');
  return text;
}
