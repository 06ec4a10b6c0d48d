import {
  encodeAttachment,
  encodeFields,
  encodeText,
  encodeTextAttachment,
  type FindResult,
  resultNames,
} from './encode-values.ts';
import { nameBasedUuid } from './name-based-uuid.ts';
import type { PropertyDictionary } from './property-list/property-list.ts';
import type { IfStep, RepeatEachStep, RepeatStep, ResultStep, Step } from './step.ts';
import { actionPrefix, conditionCodes, controlFlow, type WorkflowAction } from './workflow.ts';

/**
 * Compiles steps into the actions of a property list. An action's UUID is derived from the shortcut's name and the
 * action's position, so the same steps give the same bytes.
 * @param name of the shortcut
 * @throws Error if a step uses a result that no earlier step makes
 */
export function compileActions(name: string, steps: readonly Step[]): readonly WorkflowAction[] {
  const compiler = new Compiler(name);
  compiler.add(steps);
  return compiler.actions;
}

type EncodedAction = readonly [action: string, parameters: PropertyDictionary];

class Compiler {
  readonly actions: WorkflowAction[] = [];
  readonly #name: string;
  readonly #results = new Map<ResultStep, string>();
  readonly #findResult: FindResult = (step) => {
    const uuid = this.#results.get(step);
    if (uuid === undefined) throw new Error(`${this.#name}: no action before this one makes a ${step.kind}`);
    return uuid;
  };

  constructor(name: string) {
    this.#name = name;
  }

  add(steps: readonly Step[]): void {
    for (const step of steps) this.#addStep(step);
  }

  #addStep(step: Step): void {
    if (step.kind === 'if') this.#addIf(step);
    else if (step.kind === 'repeat') this.#addLoop('repeat.count', { WFRepeatCount: step.times }, step.steps);
    else if (step.kind === 'repeat_each')
      this.#addLoop('repeat.each', { WFInput: encodeAttachment(step.items, this.#findResult) }, step.steps);
    else if (isResultStep(step)) this.#addResult(step);
    else this.#addAction(...this.#encodeAction(step));
  }

  #addResult(step: ResultStep): void {
    const uuid = this.#nextUuid();
    const [action, parameters] = this.#encodeResult(step);
    this.#addAction(action, { UUID: uuid, ...parameters });
    this.#results.set(step, uuid);
  }

  #encodeResult(step: ResultStep): EncodedAction {
    const find = this.#findResult;
    switch (step.kind) {
      case 'text':
        return ['gettext', { WFTextActionText: encodeText(step.text, find) }];
      case 'device_detail':
        return ['getdevicedetails', { WFDeviceDetail: step.detail }];
      case 'random_number':
        return [
          'number.random',
          { WFRandomNumberMinimum: step.minimum, WFRandomNumberMaximum: step.maximum },
        ];
      case 'contents_of_url': {
        const request = {
          WFURL: encodeText(step.url, find),
          WFHTTPMethod: step.json === undefined ? 'GET' : 'POST',
          ShowHeaders: true,
          WFHTTPHeaders: encodeFields(step.headers, find),
        };
        if (step.json === undefined) return ['downloadurl', request];
        const body = { WFHTTPBodyType: 'JSON', WFJSONValues: encodeFields(step.json, find) };
        return ['downloadurl', { ...request, ...body }];
      }
      case 'dictionary':
        return ['detect.dictionary', { WFInput: encodeAttachment(step.of, find) }];
      case 'dictionary_value':
        return [
          'getvalueforkey',
          {
            WFGetDictionaryValueType: 'Value',
            WFDictionaryKey: step.key,
            WFInput: encodeAttachment(step.of, find),
          },
        ];
    }
  }

  #encodeAction(step: Exclude<Step, ResultStep | IfStep | RepeatStep | RepeatEachStep>): EncodedAction {
    const find = this.#findResult;
    switch (step.kind) {
      case 'set_variable':
        return ['setvariable', { WFVariableName: step.name, WFInput: encodeAttachment(step.value, find) }];
      case 'send_message':
        return [
          'sendmessage',
          {
            UUID: this.#nextUuid(),
            IntentAppDefinition: messagesApp,
            ShowWhenRun: false,
            WFSendMessageActionRecipients: encodeTextAttachment(step.to, find),
            WFSendMessageContent: encodeText([step.content], find),
          },
        ];
      case 'wait':
        return [
          'delay',
          {
            WFDelayTime:
              typeof step.seconds === 'number' ? step.seconds : encodeAttachment(step.seconds, find),
          },
        ];
      case 'comment':
        return ['comment', { WFCommentActionText: step.text }];
      case 'stop':
        return ['exit', {}];
      case 'nothing':
        return ['nothing', {}];
    }
  }

  #addIf({ input, condition, operand, then, otherwise }: IfStep): void {
    const group = { GroupingIdentifier: this.#nextUuid('group') };
    this.#addAction('conditional', {
      ...group,
      WFControlFlowMode: controlFlow.start,
      WFCondition: conditionCodes[condition],
      WFInput: { Type: 'Variable', Variable: encodeAttachment(input, this.#findResult) },
      WFConditionalActionString: encodeText(operand, this.#findResult),
    });
    this.add(then);
    if (otherwise) {
      this.#addAction('conditional', { ...group, WFControlFlowMode: controlFlow.otherwise });
      this.add(otherwise);
    }
    this.#addAction('conditional', {
      ...group,
      WFControlFlowMode: controlFlow.end,
      UUID: this.#nextUuid(),
    });
  }

  #addLoop(action: string, parameters: PropertyDictionary, steps: readonly Step[]): void {
    const group = { GroupingIdentifier: this.#nextUuid('group') };
    this.#addAction(action, { ...group, WFControlFlowMode: controlFlow.start, ...parameters });
    this.add(steps);
    this.#addAction(action, { ...group, WFControlFlowMode: controlFlow.end, UUID: this.#nextUuid() });
  }

  #addAction(action: string, parameters: PropertyDictionary): void {
    this.actions.push({
      WFWorkflowActionIdentifier: `${actionPrefix}${action}`,
      WFWorkflowActionParameters: parameters,
    });
  }

  #nextUuid(purpose = 'action'): string {
    return nameBasedUuid(`${this.#name}/${purpose} ${this.actions.length}`);
  }
}

function isResultStep(step: Step): step is ResultStep {
  return step.kind in resultNames;
}

const messagesApp = {
  BundleIdentifier: 'com.apple.MobileSMS',
  Name: 'Messages',
  TeamIdentifier: '0000000000',
};
