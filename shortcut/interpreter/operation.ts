/** An action of a shortcut, read from its property list and validated. */
export type Operation =
  | { readonly kind: 'text'; readonly uuid: string; readonly text: Template }
  | { readonly kind: 'device_detail'; readonly uuid: string; readonly detail: DeviceDetail }
  | {
      readonly kind: 'random_number';
      readonly uuid: string;
      readonly minimum: number;
      readonly maximum: number;
    }
  | {
      readonly kind: 'contents_of_url';
      readonly uuid: string;
      readonly url: Template;
      readonly headers: readonly Entry[];
      readonly json: readonly Entry[] | undefined;
    }
  | { readonly kind: 'dictionary'; readonly uuid: string; readonly input: Source }
  | {
      readonly kind: 'dictionary_value';
      readonly uuid: string;
      readonly key: string;
      readonly input: Source;
    }
  | { readonly kind: 'set_variable'; readonly name: string; readonly value: Source }
  | {
      readonly kind: 'send_message';
      /** The UUID of the action, which makes no result. */
      readonly action: string;
      readonly to: Source;
      readonly content: Template;
    }
  | { readonly kind: 'wait'; readonly seconds: number | Source }
  | {
      readonly kind: 'if';
      readonly input: Source;
      readonly condition: Condition;
      readonly operand: Template;
      readonly then: readonly NumberedOperation[];
      readonly otherwise: readonly NumberedOperation[];
    }
  | { readonly kind: 'repeat'; readonly times: number; readonly body: readonly NumberedOperation[] }
  | { readonly kind: 'repeat_each'; readonly items: Source; readonly body: readonly NumberedOperation[] }
  | { readonly kind: 'stop' }
  | { readonly kind: 'nothing' };

/** An automation that is part of the shortcut: iOS 27 reads it from the file. */
export type Trigger =
  | { readonly kind: 'message'; readonly contains: string }
  | { readonly kind: 'charger' | 'wifi' }
  /** The time of day in UTC counts; the date does not. */
  | { readonly kind: 'time'; readonly at: Date };

/** An operation with its position in the list of actions, which error messages name. */
export interface NumberedOperation {
  readonly index: number;
  readonly operation: Operation;
}

export type DeviceDetail = 'Device Name' | 'System Version';
export type Condition = 'is' | 'is not' | 'begins with' | 'contains';

export type Template = readonly (string | Source)[];

export interface Entry {
  readonly name: Template;
  readonly value: Template;
}

/** The origin of a value, and the changes to make before its use. */
export interface Source {
  readonly from:
    | { readonly kind: 'variable'; readonly name: string }
    | { readonly kind: 'result'; readonly uuid: string }
    | { readonly kind: 'input' | 'repeat_item' };
  readonly changes: readonly Change[];
}

export type Change =
  | { readonly kind: 'as_text' }
  | { readonly kind: 'as_file' }
  | { readonly kind: 'as_message' }
  | { readonly kind: 'property'; readonly name: Property };

export type Property = 'Sender' | 'Content' | 'Recipients' | 'File Extension';

/** Thrown for a property list that no iPhone could run as intended, which is a fault of its generator. */
export class WorkflowError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WorkflowError';
  }
}
