import { createElement, Fragment, isValidElement, type ReactNode } from 'react';
import { pageLocale } from './format.ts';

/**
 * A text with values, which its key names: `"since {at}": "Since {at}"`. Numbers are formatted. With an element among
 * the values it is a node with bold words, otherwise a string.
 */
interface Sentence<Name extends string> {
  (values: Readonly<Record<Name, string | number>>): string;
  (values: Readonly<Record<Name, ReactNode>>): ReactNode;
}

type NamesIn<Key> = Key extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** The texts of a catalogue. A wrong key, a missing value and a value too many do not compile. */
export type Texts<Catalogue> = {
  readonly [Key in keyof Catalogue as Key extends `${infer Name} ${string}`
    ? Name
    : Key]: Key extends `${string} ${string}`
    ? Sentence<NamesIn<Key>>
    : Catalogue[Key] extends string
      ? string
      : Texts<Catalogue[Key]>;
};

/** A text, its forms by the count that its key names first, or a group of texts. */
type Entry = string | { readonly [key: string]: Entry };

type Values = Readonly<Record<string, ReactNode>>;

/**
 * Makes the texts of a slice from its file texts.json. The build of another language has texts.de.json or texts.es.json
 * in its place (web/build.ts); a test compares their keys.
 */
export const catalogue = <Catalogue extends object>(texts: Catalogue, locale = pageLocale) =>
  group(texts as { readonly [key: string]: Entry }, locale) as Texts<Catalogue>;

function group(texts: { readonly [key: string]: Entry }, locale: string): object {
  const read = ([key, entry]: readonly [string, Entry]) => {
    const [name = '', count] = key.split(/ \{|\}/);
    if (count === undefined) return [name, typeof entry === 'string' ? entry : group(entry, locale)];
    const textFor = (values: Values) =>
      typeof entry === 'string' ? entry : formFor(entry, Number(values[count]), locale);
    const sentence = (values: Values) => {
      const fillPart = (part: string) => fill(part, values, locale);
      const isNode = Object.values(values).some(isValidElement);
      return isNode ? withBold(textFor(values), fillPart) : fillPart(textFor(values));
    };
    return [name, sentence];
  };
  return Object.fromEntries(Object.entries(texts).map(read));
}

function formFor(forms: { readonly [form: string]: Entry }, count: number, locale: string): string {
  return String(forms[new Intl.PluralRules(locale).select(count)] ?? forms.other);
}

/** Renders a text with its bold words, which are between `**`. @param render renders the parts */
export function withBold(text: string, render = (part: string): ReactNode => part): ReactNode {
  const parts = text
    .split(/\*\*(.+?)\*\*/)
    .map((part, index) => createElement(index % 2 === 0 ? Fragment : 'b', null, render(part)));
  return createElement(Fragment, null, ...parts);
}

/** Replaces the names in braces by their values. */
function fill(text: string, values: Values, locale: string): ReactNode {
  const parts = text.split(/\{(\w+)\}/).map((part, index) => {
    const value = index % 2 === 0 ? part : values[part];
    return typeof value === 'number' ? value.toLocaleString(locale) : value;
  });
  const isString = parts.every((part) => typeof part === 'string');
  return isString ? parts.join('') : createElement(Fragment, null, ...parts);
}
