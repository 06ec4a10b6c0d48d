import { generatePython } from '../../../clients/python/generate.ts';
import { generateTypescript } from '../../../clients/typescript/generate.ts';
import { type ApiDocument, formOf } from '../http/api-diff.ts';

/** Generates the files that come from a service's OpenAPI document, for the clients and `npm run api-diff`. */
export async function generateClientFiles(
  baseUrl: string,
): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const response = await fetch(`${baseUrl}/v1/openapi.json`);
  const document = (await response.json()) as ApiDocument & Readonly<Record<string, unknown>>;
  return [
    { path: 'clients/typescript/src/openapi.ts', text: await generateTypescript(document) },
    { path: 'clients/python/src/ownline/api.py', text: generatePython(document) },
    { path: 'clients/openapi.json', text: formOf(document) },
  ];
}
