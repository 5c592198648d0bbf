/** `me`, `models`, `tools`: the caller's account and the models and tools to use. */

import { Me, ModelList, ToolList } from '../../shared/api/listings.ts';
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

const COMMON = { tag: 'Account', access: 'user' } as const;

/** The endpoints of this file. Their lists have no pages. */
export const ACCOUNT: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'getMe',
    method: 'get',
    path: '/api/v1/me',
    summary: 'Get the caller’s account',
    answers: [jsonAnswer(200, 'The account and the token’s scope.', Me)],
    handle: (c) => {
      const { sub: account, expiresMs } = c.var.caller;
      const expires = new Date(expiresMs).toISOString();
      return c.json({ account, scope: 'user', expires } satisfies Me);
    },
  },
  {
    ...COMMON,
    id: 'listModels',
    method: 'get',
    path: '/api/v1/models',
    summary: 'List models',
    answers: [jsonAnswer(200, 'The whole list.', ModelList)],
    handle: (c) => c.json(listModels(c.env)),
  },
  {
    ...COMMON,
    id: 'listTools',
    method: 'get',
    path: '/api/v1/tools',
    summary: 'List the agent’s tools',
    answers: [jsonAnswer(200, 'The whole list.', ToolList)],
    handle: (c) => c.json(TOOL_LIST),
  },
];
