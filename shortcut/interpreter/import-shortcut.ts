import {
  isPropertyArray,
  isPropertyDictionary,
  type PropertyDictionary,
  type PropertyList,
} from '../property-list/property-list.ts';
import { WorkflowError } from './operation.ts';

/**
 * Imports a file as an iPhone does: each answer is written into the parameter that its question names.
 * @param answers in the order of the questions
 * @throws WorkflowError if a question names no parameter of an action
 */
export function importShortcut(workflow: PropertyList, answers: readonly string[]): PropertyDictionary {
  const root = asDictionary(workflow);
  const questions = asArray(root.WFWorkflowImportQuestions).map(asDictionary);
  if (questions.length !== answers.length)
    throw new WorkflowError(
      `the shortcut has ${questions.length} import questions, and ${answers.length} answers were given`,
    );
  const actions = [...asArray(root.WFWorkflowActions)];
  questions.forEach((question, number) => {
    const { ActionIndex: index, ParameterKey: key, Category: category } = question;
    const action = asDictionary(typeof index === 'number' ? actions[index] : undefined);
    const parameters = asDictionary(action.WFWorkflowActionParameters);
    if (typeof index !== 'number' || typeof key !== 'string' || category !== 'Parameter')
      throw new WorkflowError(`import question ${number} names no parameter of an action`);
    if (parameters[key] === undefined)
      throw new WorkflowError(
        `import question ${number} names the parameter ${key}, which action ${index} does not have`,
      );
    actions[index] = {
      ...action,
      WFWorkflowActionParameters: { ...parameters, [key]: answers[number] ?? '' },
    };
  });
  return { ...root, WFWorkflowActions: actions, WFWorkflowImportQuestions: [] };
}

function asArray(value: PropertyList | undefined): readonly PropertyList[] {
  if (value === undefined || typeof value !== 'object' || !isPropertyArray(value))
    throw new WorkflowError('the shortcut lacks an array that each shortcut has');
  return value;
}

function asDictionary(value: PropertyList | undefined): PropertyDictionary {
  if (!isPropertyDictionary(value))
    throw new WorkflowError('the shortcut lacks a dictionary that each shortcut has');
  return value;
}
