import { isDeepStrictEqual } from 'node:util';
import { shortcutVersion } from '#shortcut/connection.ts';
import { actionPrefix, type Workflow } from '#shortcut/workflow.ts';

/** A difference between a published shortcut and the one of this release. */
export interface Difference {
  /**
   * `failed`: a phone with the published shortcut does not work. `warning`: it works, or Shortcuts wrote the same
   * content in another form.
   */
  readonly state: 'failed' | 'warning';
  /** Completes a sentence that begins with `it`. */
  readonly text: string;
}

const namedActionsMax = 3;

/**
 * Lists how a published shortcut differs from the one of this release. It ignores what Shortcuts writes anew when a
 * person shares a shortcut: versions, icon, order of keys, UUIDs and the default of the import question. Names of
 * results are ignored, because they are in the iPhone's language. Comments are ignored, because the list to build by
 * hand leaves them out. An empty parameter equals a missing one. A text without variables equals a plain string.
 *
 * @param published a property list as JSON, from a file that another program wrote
 */
export function findDifferences(published: unknown, expected: Workflow): Difference[] {
  if (/dev_[\w-]{20}/.test(JSON.stringify(published)))
    return [{ state: 'failed', text: 'has a device token in it, and the link gives it to others' }];
  const version = /, version (\S+)\. /.exec(JSON.stringify(published))?.[1];
  if (version !== undefined && version !== shortcutVersion)
    return [{ state: 'warning', text: `is version ${version}, and this release has ${shortcutVersion}` }];
  return [
    ...compareActions(actionsOf(published), actionsOf(expected)),
    ...compareTriggers(triggersOf(published), triggersOf(expected)),
    ...compareRoot(published),
  ];
}

interface PlainAction {
  readonly name: string;
  readonly parameters: unknown;
}

/** The actions of a shortcut without its comments, with positions instead of UUIDs. */
function actionsOf(workflow: unknown): PlainAction[] {
  const actions = listAt(workflow, 'WFWorkflowActions')
    .map((action) => ({
      name: String(at(action, 'WFWorkflowActionIdentifier')).replace(actionPrefix, ''),
      written: at(action, 'WFWorkflowActionParameters'),
    }))
    .filter(({ name }) => name !== 'comment');
  const positions = new Map<string, number>();
  for (const [index, { written }] of actions.entries()) {
    for (const uuid of [at(written, 'UUID'), at(written, 'GroupingIdentifier')].map(upper))
      if (!positions.has(uuid)) positions.set(uuid, index);
  }
  return actions.map(({ name, written }) => ({ name, parameters: plain(written, positions) }));
}

const ignoredKeys = new Set(['UUID', 'OutputName', 'CustomOutputName']);

function plain(value: unknown, positions: ReadonlyMap<string, number>): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, positions));
  if (typeof value !== 'object' || value === null) return value;
  const isText = at(value, 'WFSerializationType') === 'WFTextTokenString';
  if (isText && Object.keys(at(value, 'Value', 'attachmentsByRange') ?? {}).length === 0)
    return at(value, 'Value', 'string');
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !ignoredKeys.has(key))
      .map(([key, item]) =>
        key === 'OutputUUID' || key === 'GroupingIdentifier'
          ? [key, positions.get(upper(item))]
          : [key, plain(item, positions)],
      )
      .filter(([, item]) => item !== ''),
  );
}

function* compareActions(
  published: readonly PlainAction[],
  expected: readonly PlainAction[],
): Generator<Difference> {
  const moved = expected.findIndex(({ name }, index) => published[index]?.name !== name);
  if (moved !== -1 || published.length > expected.length) {
    const index = moved === -1 ? expected.length : moved;
    const [found, wanted] = [published, expected].map((actions) => actions[index]?.name ?? 'the end');
    yield {
      state: 'failed',
      text: `has other actions: number ${index + 1} is ${found} instead of ${wanted}`,
    };
    return;
  }
  const changed = expected.flatMap(({ name, parameters }, index) =>
    isDeepStrictEqual(published[index]?.parameters, parameters) ? [] : [`${index + 1} (${name})`],
  );
  if (changed.length === 0) return;
  const others = changed.length > namedActionsMax ? ' and others' : '';
  const names = changed.slice(0, namedActionsMax).join(', ');
  yield { state: 'warning', text: `has other values in the actions ${names}${others}` };
}

/**
 * Names of the automations, with their triggers. Switches and times of day are left out, because they depend on the
 * iPhone.
 */
const triggersOf = (workflow: unknown): string[] => listAt(workflow, 'WFWorkflowTriggers').map(triggerName);

function triggerName(trigger: unknown): string {
  const parameters = at(trigger, 'WFTriggerSerializedParameters');
  const conditions = listAt(
    at(parameters, 'WFMessageConditions', 'Value'),
    'WFActionParameterFilterTemplates',
  );
  const details = [
    at(parameters, 'WFConnectionType') ?? [],
    conditions.map((row) => `“${at(row, 'Values', 'Text')}”`),
  ];
  return [at(trigger, 'WFTriggerIdentifier'), ...details.flat()].join(' ');
}

function* compareTriggers(published: readonly string[], expected: readonly string[]): Generator<Difference> {
  const missing = without(expected, published);
  if (missing.length > 0)
    yield {
      state: 'failed',
      text: `lacks ${missing.length} of ${expected.length} automations (${missing.join(', ')})`,
    };
  const spare = without(published, expected);
  if (spare.length > 0)
    yield { state: 'warning', text: `has automations that do not belong to it (${spare.join(', ')})` };
}

/** Removes the names of one list from another: a name that `others` has twice is removed twice. */
function without(names: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return names.filter((name) => {
    const index = left.indexOf(name);
    if (index !== -1) left.splice(index, 1);
    return index === -1;
  });
}

function* compareRoot(published: unknown): Generator<Difference> {
  const [question] = listAt(published, 'WFWorkflowImportQuestions');
  if (at(question, 'ActionIndex') !== 0 || at(question, 'ParameterKey') !== 'WFTextActionText')
    yield { state: 'failed', text: 'does not ask for the setup code when it is installed' };
  if (at(published, 'WFWorkflowIsDisabledOnLockScreen') === true)
    yield { state: 'failed', text: 'does not run while the iPhone is locked' };
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

function listAt(value: unknown, key: string): readonly unknown[] {
  const list = at(value, key);
  return Array.isArray(list) ? list : [];
}

const upper = (uuid: unknown) => String(uuid).toUpperCase();
