import { parentPort } from 'node:worker_threads';
import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';

/** The page of the API reference and its script, both in UTF-8. */
export interface RenderedReference {
  readonly page: string;
  readonly script: Uint8Array<ArrayBuffer>;
}

/**
 * Worker thread: posts a RenderedReference to its parent, and ends. Loading the renderer, a Fastify plugin with a
 * script of 4 MB, takes 0.25 s of CPU, too long for the server's event loop.
 */
const renderer = fastify();
await renderer.register(scalar, {
  routePrefix: '/docs',
  configuration: {
    url: '/v1/openapi.json',
    // The page sends requests to its own origin only: its content security policy allows no other.
    servers: [{ url: '/' }],
    pageTitle: 'Ownline API',
    cdn: '/docs/js/scalar.js',
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
  },
});
const page = await renderer.inject('/docs/');
const script = await renderer.inject('/docs/js/scalar.js');
await renderer.close();
// The renderer's placeholder of a credential looks like a real one, and no option changes it.
const readable = script.body.replaceAll('QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT', 'own_live_your_key');
const rendered: RenderedReference = { page: page.body, script: new TextEncoder().encode(readable) };
parentPort?.postMessage(rendered, [rendered.script.buffer]);
