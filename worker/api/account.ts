/** `me`, `models`, `tools`: the caller's account and the models and tools to use. */

import type { Context } from 'hono';
import { listModels } from '../../packages/model/index.ts';
import { Me, MePatch, ModelList, ToolList } from '../../shared/api/listings.ts';
import { TOOLS } from '../../shared/tools/catalogue.ts';
import { toFunctionDefinition } from '../../shared/tools/definition.ts';
import type { AppContext } from '../account/caller.ts';
import { parseBody } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { accountOf } from '../objects.ts';
import { defaultPrivacy } from '../privacy.ts';
import { reach } from '../reach.ts';

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
    needs: 'read',
    method: 'get',
    path: '/api/v1/me',
    summary: 'Get the caller’s account',
    answers: [jsonAnswer(200, 'The account and the token’s scope.', Me)],
    handle: showMe,
  },
  {
    ...COMMON,
    id: 'updateMe',
    needs: 'manage',
    method: 'patch',
    path: '/api/v1/me',
    summary: 'Change the caller’s account',
    description: 'Conversations that have begun keep what they began with.',
    body: { schema: MePatch, example: { deleteAfterHours: 24 } },
    answers: [jsonAnswer(200, 'The account.', Me)],
    handle: async (c) => {
      const { deleteAfterHours: hours } = await parseBody(c, MePatch);
      await reach<void>(() => accountOf(c.env, c.var.caller.sub).setDeleteAfterHours(hours));
      return await showMe(c);
    },
  },
  {
    ...COMMON,
    id: 'listModels',
    needs: 'read',
    method: 'get',
    path: '/api/v1/models',
    summary: 'List models',
    answers: [jsonAnswer(200, 'The whole list.', ModelList)],
    handle: (c) => c.json(listModels(c.env)),
  },
  {
    ...COMMON,
    id: 'listTools',
    needs: 'read',
    method: 'get',
    path: '/api/v1/tools',
    summary: 'List the agent’s tools',
    answers: [jsonAnswer(200, 'The whole list.', ToolList)],
    handle: (c) => c.json(TOOL_LIST),
  },
];

async function showMe(c: Context<AppContext>): Promise<Response> {
  const { sub: account, expiresMs } = c.var.caller;
  const expires = new Date(expiresMs).toISOString();
  const deleteAfterHours = await defaultPrivacy(c.env, account);
  return c.json({ account, scope: 'user', expires, deleteAfterHours } satisfies Me);
}
