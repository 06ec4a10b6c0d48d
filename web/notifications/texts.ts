import { catalogue } from '#web/kit/catalogue.ts';
import en from './texts.json' with { type: 'json' };

export const texts = catalogue(en);
