import { generatePython } from '../../../clients/python/generate.ts';
import { generateTypescript } from '../../../clients/typescript/generate.ts';

/** Generates the files of the clients that come from the OpenAPI document of a service. */
export async function generateClientFiles(
  baseUrl: string,
): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const response = await fetch(`${baseUrl}/v1/openapi.json`);
  const document = (await response.json()) as Readonly<Record<string, unknown>>;
  return [
    { path: 'clients/typescript/src/openapi.ts', text: await generateTypescript(document) },
    { path: 'clients/python/src/ownline/api.py', text: generatePython(document) },
  ];
}
