import type { PropertyDictionary } from './property-list/property-list.ts';

/** An action of a shortcut, as it is in the file. */
export interface WorkflowAction extends PropertyDictionary {
  readonly WFWorkflowActionIdentifier: string;
  readonly WFWorkflowActionParameters: PropertyDictionary;
}

/** The root of the property list of a shortcut. Its name is the name of the file. */
export interface Workflow extends PropertyDictionary {
  readonly WFWorkflowActions: readonly WorkflowAction[];
  readonly WFWorkflowImportQuestions: readonly PropertyDictionary[];
}

/** iOS 17 and newer read it. */
export const clientVersion = '3612.0.2.1';
/** Shortcuts of iOS 16 and newer; an older one refuses the file. */
export const minimumClientVersion = 900;

/** Placeholder of a value inside a text: one UTF-16 code unit. */
export const valuePlaceholder = '\ufffc';

export const actionPrefix = 'is.workflow.actions.';

/** Numbers of the conditions of an If. */
export const conditionCodes = { is: 4, 'is not': 5, 'begins with': 8, contains: 99 } as const;

/** Positions of an action in its group: If or Repeat, Otherwise, End. */
export const controlFlow = { start: 0, otherwise: 1, end: 2 } as const;
