import { moveDeclarations } from '../tool/declarations.mjs';
export default {
  message: 'contract: rename to strictObject, stringEnum, phone-number, paging and deleted',
  symbols: { 'contract/schema.ts': { closed: 'strictObject', literals: 'stringEnum' } },
  moves: { 'contract/handles.ts': 'contract/phone-number.ts' },
  after(tree, context) {
    moveDeclarations(tree, 'contract/number.ts', ['Deleted'], 'contract/deleted.ts', context);
    moveDeclarations(tree, 'contract/message.ts', ['listLimitMax', 'listLimitDefault'], 'contract/paging.ts', context);
  },
  quick: ['test/coverage.test.ts', 'test/docs.test.ts', 'test/api/api-reference.test.ts'],
};
