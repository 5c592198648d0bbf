/** `drawbridge mcp login`: logs in at an MCP server that demands it, through the person's browser. */

import { LocalError } from '../../../machine/local-error.ts';
import type { ServerConfig } from '../../../packages/mcp/server-list.ts';
import { inOneLine } from '../../../shared/text/plain-sight.ts';
import { openInBrowser } from '../../terminal/browser.ts';
import { openTerminal } from '../../terminal/terminal.ts';

/** Logs in at a server of the list, whose file says where the login is kept. Prints the address of the login page. */
export async function logInAt(
  name: string,
  config: ServerConfig,
  {
    file,
    workspace,
    opensBrowser,
  }: { readonly file: string; readonly workspace: string; readonly opensBrowser: boolean },
): Promise<void> {
  if (!('url' in config))
    throw new LocalError('refused', `${name} is a program: it needs no login.`);
  const { withVariables, loginFileOf } = await import('../../../packages/mcp/index.ts');
  const { logIn } = await import('../../../packages/mcp/connected.ts');
  const terminal = openTerminal(process, process.env);
  const filled = withVariables(config, { workspace: '', environment: process.env });
  const isDone = await logIn(filled, {
    file: loginFileOf(file, name),
    onUrl: ({ href }) => {
      terminal.write(`Log in here:\n${inOneLine(href)}\n`);
      if (opensBrowser) openInBrowser(href, workspace);
    },
  });
  const words = isDone ? `Logged in at ${name}. The bridge uses it within a minute.` : NO_LOGIN;
  terminal.write(`${words}\n`);
}

const NO_LOGIN = 'This server requires no login.';
