import { moveDeclarations } from '../tool/declarations.mjs';
export default {
  message: 'http: move what a handler is given to request-context.ts',
  symbols: { 'server/platform/http/http-server.ts': { Asked: 'RequestContext' } },
  after(tree, context) {
    const from = 'server/platform/http/http-server.ts';
    const to = 'server/platform/http/request-context.ts';
    moveDeclarations(tree, from, ['KnockAgain', 'RequestContext', 'missing', 'byOf'], to, context);
    tree.set(to, tree.get(to).replace('export function missing', 'function missing').replace('/** What a handler is given. */', '/** The request as a handler is given it, with its caller. */'));
  },
};
