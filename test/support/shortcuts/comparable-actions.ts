import type { WorkflowAction } from '#shortcut/workflow.ts';
import { actionName } from './workflow-reader.ts';

/** Numbers UUIDs by first appearance and removes comments, so that two equal builds are equal. */
export function comparableActions(actions: readonly WorkflowAction[]): unknown {
  const numbers = new Map<string, string>();
  const built = actions.filter((action) => actionName(action) !== 'comment');
  const text = JSON.stringify(built).replaceAll(
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi,
    (uuid) => numbers.get(uuid) ?? (numbers.set(uuid, `uuid ${numbers.size}`).get(uuid) as string),
  );
  return JSON.parse(text);
}
