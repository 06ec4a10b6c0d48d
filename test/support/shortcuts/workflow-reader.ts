import assert from 'node:assert/strict';
import type { PropertyDictionary, PropertyList } from '#shortcut/property-list/property-list.ts';
import type { Workflow, WorkflowAction } from '#shortcut/workflow.ts';

/** Every dictionary inside a value, the value itself included. */
export function dictionariesIn(value: PropertyList): PropertyDictionary[] {
  if (typeof value !== 'object') return [];
  if (Array.isArray(value)) return value.flatMap(dictionariesIn);
  const dictionary = value as PropertyDictionary;
  return [dictionary, ...Object.values(dictionary).flatMap(dictionariesIn)];
}

/** Last part of an action's identifier, such as `gettext`. */
export const actionName = (action: WorkflowAction) =>
  action.WFWorkflowActionIdentifier.replace('is.workflow.actions.', '');

export const parametersOf = (action: WorkflowAction) => action.WFWorkflowActionParameters;

/** Text parameter of the action at an index. */
export function textParameter(workflow: Workflow, index: number, key: string): string {
  const action = workflow.WFWorkflowActions[index];
  assert.ok(action);
  const value = parametersOf(action)[key];
  assert.equal(typeof value, 'string');
  return String(value);
}

export interface TokenString {
  readonly string: string;
  readonly attachmentsByRange?: Readonly<Record<string, PropertyDictionary>>;
}

/** Every text with variables in a value. */
export function tokenStringsIn(value: PropertyList): TokenString[] {
  return dictionariesIn(value)
    .filter((dictionary) => dictionary.WFSerializationType === 'WFTextTokenString')
    .map((dictionary) => dictionary.Value as unknown as TokenString);
}
