import {
  isPropertyArray,
  type PropertyDictionary,
  type PropertyList,
} from '../property-list/property-list.ts';
import { WorkflowError } from './operation.ts';

/**
 * Imports a file as an iPhone does: it writes each question's answer into the parameter that the question names.
 * @param answers in the order of the questions
 * @throws WorkflowError where a question names no parameter of an action
 */
export function importShortcut(workflow: PropertyList, answers: readonly string[]): PropertyDictionary {
  const root = asDictionary(workflow);
  const questions = asArray(root.WFWorkflowImportQuestions).map(asDictionary);
  if (questions.length !== answers.length)
    throw new WorkflowError(`${questions.length} questions have ${answers.length} answers`);
  const actions = [...asArray(root.WFWorkflowActions)];
  questions.forEach((question, number) => {
    const { ActionIndex: index, ParameterKey: key, Category: category } = question;
    const action = asDictionary(typeof index === 'number' ? actions[index] : undefined);
    const parameters = asDictionary(action.WFWorkflowActionParameters);
    if (typeof index !== 'number' || typeof key !== 'string' || category !== 'Parameter')
      throw new WorkflowError(`question ${number} names no parameter`);
    if (parameters[key] === undefined)
      throw new WorkflowError(`question ${number} names the parameter ${key}, which action ${index} has not`);
    actions[index] = {
      ...action,
      WFWorkflowActionParameters: { ...parameters, [key]: answers[number] ?? '' },
    };
  });
  return { ...root, WFWorkflowActions: actions, WFWorkflowImportQuestions: [] };
}

function asArray(value: PropertyList | undefined): readonly PropertyList[] {
  if (value === undefined || typeof value !== 'object' || !isPropertyArray(value))
    throw new WorkflowError('an array is missing');
  return value;
}

function asDictionary(value: PropertyList | undefined): PropertyDictionary {
  if (value === undefined || typeof value !== 'object' || isPropertyArray(value))
    throw new WorkflowError('a dictionary is missing');
  return value;
}
