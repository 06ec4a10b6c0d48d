import type { PropertyDictionary } from './property-list/property-list.ts';

/** An action of a shortcut, as the file contains it. */
export interface WorkflowAction extends PropertyDictionary {
  readonly WFWorkflowActionIdentifier: string;
  readonly WFWorkflowActionParameters: PropertyDictionary;
}

/** The root of a shortcut's property list. Its file's name is the name of the shortcut. */
export interface Workflow extends PropertyDictionary {
  readonly WFWorkflowActions: readonly WorkflowAction[];
  readonly WFWorkflowImportQuestions: readonly PropertyDictionary[];
}

/** A client version that iOS 17 and newer accept. */
export const clientVersion = '3612.0.2.1';
/** Shortcuts of iOS 16 and newer accept this version; older ones refuse the file. */
export const minimumClientVersion = 900;

/** The UTF-16 code unit that marks the position of a value inside a text. */
export const valuePlaceholder = '\ufffc';

export const actionPrefix = 'is.workflow.actions.';

/** Codes of the conditions of an If. */
export const conditionCodes = { is: 4, 'is not': 5, 'begins with': 8, contains: 99 } as const;

/** Codes for the parts of a group: If or Repeat, Otherwise, End. */
export const controlFlow = { start: 0, otherwise: 1, end: 2 } as const;
