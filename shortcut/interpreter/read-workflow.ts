import type { PropertyList } from '../property-list/property-list.ts';
import {
  type Condition,
  type NumberedOperation,
  type Operation,
  type Trigger,
  WorkflowError,
} from './operation.ts';
import { ParameterReader } from './parameter-reader.ts';
import { readRoot } from './read-root.ts';

/** A shortcut that was read, with the automations that iOS 27 finds in its file. */
export interface ReadShortcut {
  readonly operations: readonly NumberedOperation[];
  readonly triggers: readonly Trigger[];
}

/**
 * Reads the property list of a shortcut into operations.
 * @throws WorkflowError for an unknown action, parameter or type, and if If and Repeat do not nest
 */
export function readWorkflow(workflow: PropertyList): ReadShortcut {
  const root = new ParameterReader('the workflow', workflow, new Set());
  const actions = root.array('WFWorkflowActions');
  const triggers = readRoot(root, JSON.stringify(actions).includes('"ExtensionInput"'));
  const reader = new ActionListReader(actions);
  const operations = reader.block();
  if (!reader.isAtEnd) throw new WorkflowError(`action ${reader.position} closes a group that is not open`);
  return { operations, triggers };
}

// The constants of the generator are repeated here on purpose, so that a wrong constant in the generator is noticed.
const actionPrefix = 'is.workflow.actions.';
const controlFlow = { start: 0, otherwise: 1, end: 2 };
const conditions: ReadonlyMap<number, Condition> = new Map([
  [4, 'is'],
  [5, 'is not'],
  [8, 'begins with'],
  [99, 'contains'],
]);

class ActionListReader {
  readonly #actions: readonly PropertyList[];
  readonly #results = new Set<string>();
  #next = 0;

  constructor(actions: readonly PropertyList[]) {
    this.#actions = actions;
  }

  get position(): number {
    return this.#next;
  }

  get isAtEnd(): boolean {
    return this.#next >= this.#actions.length;
  }

  /** Reads actions up to the next Otherwise or End, which is left for the caller. */
  block(): readonly NumberedOperation[] {
    const block: NumberedOperation[] = [];
    while (!this.isAtEnd) {
      const index = this.#next;
      const { name, parameters } = this.#peek();
      if (parameters.has('WFControlFlowMode') && modeOf(this.#actions[index]) !== controlFlow.start) break;
      this.#next += 1;
      const operation = name === 'comment' ? this.#comment(parameters) : this.#read(name, parameters);
      if (operation) block.push({ index, operation });
    }
    return block;
  }

  #peek() {
    const where = `action ${this.#next}`;
    const action = new ParameterReader(where, this.#actions[this.#next], this.#results);
    const identifier = action.string('WFWorkflowActionIdentifier');
    const parameters = new ParameterReader(
      `${where} (${identifier})`,
      action.take('WFWorkflowActionParameters'),
      this.#results,
    );
    action.end();
    if (!identifier.startsWith(actionPrefix))
      throw new WorkflowError(`${where} has the unknown identifier ${identifier}`);
    return { name: identifier.slice(actionPrefix.length), parameters };
  }

  #comment(parameters: ParameterReader): undefined {
    parameters.string('WFCommentActionText');
    parameters.end();
  }

  #read(name: string, parameters: ParameterReader): Operation {
    if (name === 'conditional') return this.#readIf(parameters);
    if (name === 'repeat.count' || name === 'repeat.each') return this.#readRepeat(name, parameters);
    const operation = readOperation(name, parameters, this.#next - 1);
    parameters.end();
    if ('uuid' in operation) this.#results.add(operation.uuid);
    return operation;
  }

  #readIf(parameters: ParameterReader): Operation {
    const group = parameters.string('GroupingIdentifier');
    parameters.expect('WFControlFlowMode', controlFlow.start);
    const wrapper = parameters.inside('WFInput');
    wrapper.expect('Type', 'Variable');
    const input = wrapper.attachment('Variable');
    wrapper.end();
    const condition = readCondition(parameters.integer('WFCondition'), this.#next - 1);
    const operand = parameters.template('WFConditionalActionString');
    parameters.end();
    const then = this.block();
    const hasOtherwise = this.#readMarker('conditional', group, controlFlow.otherwise);
    const otherwise = hasOtherwise ? this.block() : [];
    if (!this.#readMarker('conditional', group, controlFlow.end))
      throw new WorkflowError(`the If of group ${group} has no end`);
    return { kind: 'if', input, condition, operand, then, otherwise };
  }

  #readRepeat(name: 'repeat.count' | 'repeat.each', parameters: ParameterReader): Operation {
    const group = parameters.string('GroupingIdentifier');
    parameters.expect('WFControlFlowMode', controlFlow.start);
    const loop =
      name === 'repeat.count'
        ? { kind: 'repeat' as const, times: parameters.integer('WFRepeatCount') }
        : { kind: 'repeat_each' as const, items: parameters.attachment('WFInput') };
    parameters.end();
    const body = this.block();
    if (!this.#readMarker(name, group, controlFlow.end))
      throw new WorkflowError(`the Repeat of group ${group} has no end`);
    return { ...loop, body };
  }

  /** Reads the Otherwise or End of a group if it is the next action. @returns true if the action was read */
  #readMarker(name: string, group: string, mode: number): boolean {
    if (this.isAtEnd || modeOf(this.#actions[this.#next]) !== mode) return false;
    const next = this.#peek();
    if (next.name !== name)
      throw new WorkflowError(`action ${this.#next} ends a ${name} as if it was a ${next.name}`);
    next.parameters.expect('GroupingIdentifier', group);
    next.parameters.expect('WFControlFlowMode', mode);
    if (next.parameters.has('UUID')) next.parameters.string('UUID');
    next.parameters.end();
    this.#next += 1;
    return true;
  }
}

function modeOf(action: PropertyList | undefined): unknown {
  const parameters = (action as { WFWorkflowActionParameters?: { WFControlFlowMode?: unknown } } | undefined)
    ?.WFWorkflowActionParameters;
  return parameters?.WFControlFlowMode;
}

function readCondition(code: number, index: number): Condition {
  const condition = conditions.get(code);
  if (condition === undefined)
    throw new WorkflowError(`the If of action ${index} has the unknown condition ${code}`);
  return condition;
}

function readOperation(name: string, parameters: ParameterReader, index: number): Operation {
  switch (name) {
    case 'gettext':
      return {
        kind: 'text',
        uuid: parameters.string('UUID'),
        text: parameters.template('WFTextActionText'),
      };
    case 'getdevicedetails':
      return {
        kind: 'device_detail',
        uuid: parameters.string('UUID'),
        detail: parameters.oneOf('WFDeviceDetail', ['Device Name', 'System Version']),
      };
    case 'number.random':
      return {
        kind: 'random_number',
        uuid: parameters.string('UUID'),
        minimum: parameters.integer('WFRandomNumberMinimum'),
        maximum: parameters.integer('WFRandomNumberMaximum'),
      };
    case 'downloadurl':
      return readContentsOfUrl(parameters);
    case 'detect.dictionary':
      return {
        kind: 'dictionary',
        uuid: parameters.string('UUID'),
        input: parameters.attachment('WFInput'),
      };
    case 'getvalueforkey':
      parameters.expect('WFGetDictionaryValueType', 'Value');
      return {
        kind: 'dictionary_value',
        uuid: parameters.string('UUID'),
        key: parameters.string('WFDictionaryKey'),
        input: parameters.attachment('WFInput'),
      };
    case 'setvariable':
      return {
        kind: 'set_variable',
        name: parameters.string('WFVariableName'),
        value: parameters.attachment('WFInput'),
      };
    case 'sendmessage':
      return readSendMessage(parameters);
    case 'delay':
      return { kind: 'wait', seconds: parameters.integerOrAttachment('WFDelayTime') };
    case 'exit':
      return { kind: 'stop' };
    case 'nothing':
      return { kind: 'nothing' };
    default:
      throw new WorkflowError(`action ${index} has the unknown type ${name}`);
  }
}

function readContentsOfUrl(parameters: ParameterReader): Operation {
  const uuid = parameters.string('UUID');
  const url = parameters.template('WFURL');
  const method = parameters.oneOf('WFHTTPMethod', ['GET', 'POST']);
  const headers = parameters.entries('WFHTTPHeaders');
  parameters.expect('ShowHeaders', true);
  if (method === 'GET') return { kind: 'contents_of_url', uuid, url, headers, json: undefined };
  parameters.expect('WFHTTPBodyType', 'JSON');
  return { kind: 'contents_of_url', uuid, url, headers, json: parameters.entries('WFJSONValues') };
}

function readSendMessage(parameters: ParameterReader): Operation {
  const action = parameters.string('UUID');
  parameters.expect('IntentAppDefinition', {
    BundleIdentifier: 'com.apple.MobileSMS',
    Name: 'Messages',
    TeamIdentifier: '0000000000',
  });
  // With ShowWhenRun, iOS would show the message and wait until a person taps Send.
  parameters.expect('ShowWhenRun', false);
  return {
    kind: 'send_message',
    action,
    to: parameters.attachment('WFSendMessageActionRecipients'),
    content: parameters.tokenString('WFSendMessageContent'),
  };
}
