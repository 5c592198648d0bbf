/** `me`, `models`, `tools`: what there is for the caller. */
import { Me, ModelList, ToolList } from '../../shared/listings.ts';
import { TOOLS } from '../../shared/tools/catalogue.ts';
import { toFunctionDefinition } from '../../shared/tools/definition.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { listModels } from '../upstream/models.ts';

const TOOL_LIST: ToolList = {
  items: TOOLS.map((tool) => {
    const { name, description, parameters } = toFunctionDefinition(tool).function;
    return { name, aliases: [...tool.aliases], description, effect: tool.effect, parameters };
  }),
};

/** Lists without pages. */
export const ACCOUNT: readonly Endpoint[] = [
  {
    id: 'getMe',
    method: 'get',
    path: '/api/v1/me',
    tag: 'Account',
    summary: 'Who the caller is',
    access: 'user',
    answers: [jsonAnswer(200, 'All of it.', Me)],
    handle: (c) => c.json({ account: c.var.caller.sub, scope: 'user' } satisfies Me),
  },
  {
    id: 'listModels',
    method: 'get',
    path: '/api/v1/models',
    tag: 'Account',
    summary: 'Models to answer with',
    access: 'user',
    answers: [jsonAnswer(200, 'All of it.', ModelList)],
    handle: (c) => c.json(listModels(c.env)),
  },
  {
    id: 'listTools',
    method: 'get',
    path: '/api/v1/tools',
    tag: 'Account',
    summary: 'Tools of the agent',
    access: 'user',
    answers: [jsonAnswer(200, 'All of it.', ToolList)],
    handle: (c) => c.json(TOOL_LIST),
  },
];
