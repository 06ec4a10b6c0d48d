import { type Trigger, WorkflowError } from './operation.ts';
import type { ParameterReader } from './parameter-reader.ts';
import { readTriggers } from './read-triggers.ts';

/**
 * Reads all keys of the root except its actions, and refuses unknown ones, because Shortcuts ignores them silently.
 * @param readsInput whether an action reads the input of the shortcut
 * @throws WorkflowError for an unknown or missing key, and for a value with which no automation would run the shortcut
 */
export function readRoot(root: ParameterReader, readsInput: boolean): readonly Trigger[] {
  if (!/^\d+(\.\d+)+$/.test(root.string('WFWorkflowClientVersion')))
    throw new WorkflowError('the client version is none');
  root.expect('WFWorkflowMinimumClientVersion', 900);
  root.expect('WFWorkflowMinimumClientVersionString', '900');
  const icon = root.inside('WFWorkflowIcon');
  icon.integer('WFWorkflowIconStartColor');
  icon.integer('WFWorkflowIconGlyphNumber');
  icon.end();
  root.expect('WFWorkflowHasShortcutInputVariables', readsInput);
  root.expect('WFWorkflowHasOutputFallback', false);
  // With true, an automation could not run the shortcut while the iPhone is locked.
  root.expect('WFWorkflowIsDisabledOnLockScreen', false);
  root.expect('WFWorkflowOutputContentItemClasses', []);
  root.expect('WFWorkflowTypes', []);
  root.expect('WFQuickActionSurfaces', []);
  readInputClasses(root, readsInput);
  if (root.items('WFWorkflowImportQuestions').length > 0)
    throw new WorkflowError('the shortcut runs before its import questions were answered');
  const triggers = root.has('WFWorkflowTriggers') ? readTriggers(root.items('WFWorkflowTriggers')) : [];
  root.end();
  return triggers;
}

function readInputClasses(root: ParameterReader, readsInput: boolean): void {
  const classes = root.array('WFWorkflowInputContentItemClasses');
  const unknown = classes.find((name) => typeof name !== 'string' || !inputClasses.has(name));
  if (unknown !== undefined) throw new WorkflowError(`the input class ${JSON.stringify(unknown)} is unknown`);
  if (readsInput && !classes.includes('WFMessageContentItem'))
    throw new WorkflowError('the shortcut reads messages, and does not name their class');
}

const kinds = `App AppStoreApp Article Contact Date EmailAddress Folder GenericFile Image iTunesProduct Location
  DCMapsLink AVAsset PDF PhoneNumber RichText SafariWebPage String URL Message`;
const inputClasses: ReadonlySet<string> = new Set(kinds.split(/\s+/).map((kind) => `WF${kind}ContentItem`));
