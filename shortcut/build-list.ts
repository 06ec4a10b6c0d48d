import { resultNames } from './encode-values.ts';
import type { Fields, Reference, Step, Text } from './step.ts';

/** A text to type into a field, with the variables to choose inside it. */
export type BuildText = readonly (string | { readonly variable: string })[];

export interface BuildField {
  readonly label: string;
  readonly value: BuildText;
}

export interface BuildAction {
  /** The action's position in the list, counted from 1 through all levels. */
  readonly number: number;
  /** The action's name in the search of the Shortcuts app. */
  readonly action: string;
  readonly fields: readonly BuildField[];
  /** Actions inside If or Repeat. */
  readonly inside?: readonly BuildAction[];
  /** Actions between Otherwise and End If. */
  readonly otherwise?: readonly BuildAction[];
}

/**
 * Turns the steps of a shortcut into a list to build by hand. The shortcut's file
 * is made from the same steps. Comments are not listed.
 */
export function buildList(steps: readonly Step[]): readonly BuildAction[] {
  return new ListBuilder().list(steps);
}

class ListBuilder {
  #count = 0;
  readonly #numbers = new Map<Step, number>();
  /** The step before the current one, whose result the editor of Shortcuts inserts by itself. */
  #previous: Step | undefined;

  list(steps: readonly Step[]): readonly BuildAction[] {
    return steps.filter((step) => step.kind !== 'comment').map((step) => this.#describe(step));
  }

  #describe(step: Step): BuildAction {
    this.#count += 1;
    const number = this.#count;
    const action = { number, ...this.#action(step) };
    this.#numbers.set(step, number);
    this.#previous = step;
    if (step.kind === 'repeat' || step.kind === 'repeat_each')
      return { ...action, inside: this.list(step.steps) };
    if (step.kind !== 'if') return action;
    const inside = this.list(step.then);
    this.#previous = step;
    if (step.otherwise === undefined) return { ...action, inside };
    return { ...action, inside, otherwise: this.list(step.otherwise) };
  }

  #action(step: Step): { readonly action: string; readonly fields: readonly BuildField[] } {
    switch (step.kind) {
      case 'text':
        return { action: 'Text', fields: [{ label: 'Text', value: this.#text(step.text) }] };
      case 'device_detail':
        return { action: 'Get Device Details', fields: [{ label: 'Detail', value: [step.detail] }] };
      case 'random_number':
        return {
          action: 'Random Number',
          fields: [
            { label: 'Minimum', value: [String(step.minimum)] },
            { label: 'Maximum', value: [String(step.maximum)] },
          ],
        };
      case 'contents_of_url':
        return {
          action: 'Get Contents of URL',
          fields: [
            { label: 'URL', value: this.#text(step.url) },
            { label: 'Method', value: [step.json === undefined ? 'GET' : 'POST'] },
            ...this.#fields('Header', step.headers),
            ...(step.json === undefined
              ? []
              : [{ label: 'Request Body', value: ['JSON'] }, ...this.#fields('JSON Text', step.json)]),
          ],
        };
      case 'dictionary':
        return { action: 'Get Dictionary from Input', fields: [this.#input(step.of)] };
      case 'dictionary_value':
        return {
          action: 'Get Dictionary Value',
          fields: [{ label: 'Key', value: [step.key] }, this.#input(step.of, 'Dictionary')],
        };
      case 'set_variable':
        return {
          action: 'Set Variable',
          fields: [{ label: 'Variable Name', value: [step.name] }, this.#input(step.value)],
        };
      case 'send_message':
        return {
          action: 'Send Message',
          fields: [
            { label: 'Message', value: this.#text([step.content]) },
            { label: 'Recipients', value: this.#text([step.to]) },
            { label: 'Show When Run', value: ['off'] },
          ],
        };
      case 'wait':
        return {
          action: 'Wait',
          fields: [
            {
              label: 'Seconds',
              value: typeof step.seconds === 'number' ? [String(step.seconds)] : this.#text([step.seconds]),
            },
          ],
        };
      case 'if':
        return {
          action: 'If',
          fields: [
            this.#input(step.input),
            { label: 'Condition', value: [step.condition] },
            { label: 'Text', value: this.#text(step.operand) },
          ],
        };
      case 'repeat':
        return { action: 'Repeat', fields: [{ label: 'Times', value: [String(step.times)] }] };
      case 'repeat_each':
        return { action: 'Repeat with Each', fields: [this.#input(step.items, 'Items')] };
      case 'stop':
        return { action: 'Stop This Shortcut', fields: [] };
      case 'nothing':
        return { action: 'Nothing', fields: [] };
      case 'comment':
        return { action: 'Comment', fields: [{ label: 'Text', value: [step.text] }] };
    }
  }

  #fields(label: string, fields: Fields): readonly BuildField[] {
    return fields.map(([name, text]) => ({ label: `${label} ${name}`, value: this.#text(text) }));
  }

  #input(reference: Reference, label = 'Input'): BuildField {
    return { label, value: this.#text([reference]) };
  }

  #text(text: Text): BuildText {
    return text.map((part) => (typeof part === 'string' ? part : { variable: this.#nameOf(part) }));
  }

  #nameOf(reference: Reference): string {
    switch (reference.from) {
      case 'variable':
        return reference.property === undefined
          ? reference.name
          : `${reference.name} › ${reference.property}`;
      case 'shortcut_input':
        return 'Shortcut Input';
      case 'repeat_item':
        // The property is offered after the type Message was chosen.
        return `Repeat Item, as Message › ${reference.property}`;
      case 'result': {
        const name = resultNames[reference.of.kind];
        if (reference.of === this.#previous) return `${name} of the action before`;
        return `${name} of action ${this.#numbers.get(reference.of)}`;
      }
    }
  }
}
