import { catalogue } from './catalogue.ts';
import en from './texts.json' with { type: 'json' };

export const texts = catalogue(en);
