/** What `drawbridge up` prints when the instance is ready. */
import type { Programs } from '../../local/server/worker.ts';
import type { ModelSettings } from '../../local/settings.ts';
import { inOneLine, nameInLine } from '../../shared/text/plain-sight.ts';
import type { ReportedConfinement } from '../../shared/wire/tunnel.ts';
import { commandLine, ownCommand } from '../terminal/own-command.ts';
import type { PageLink } from './page-link.ts';

export interface Ready {
  readonly url: string;
  /** The user's token. Only {@link readyLine} shows it. */
  readonly token: string;
  /** Null without a bridge, as is `confinement`. */
  readonly bridgeId: string | null;
  readonly confinement: ReportedConfinement | null;
  readonly model: ModelNames;
  /** Undefined for the workspace's default state folder. */
  readonly stateDir: string | undefined;
  readonly workspaceDir: string;
  readonly programs: Programs;
  /** The link of the first start. */
  readonly page: Pick<PageLink, 'about' | 'link'> | undefined;
}

/** One line of JSON for programs. `model` is null if each request must name one. */
export function readyLine({ url, token, bridgeId, model }: Ready): string {
  return `${JSON.stringify({ event: 'ready', url, token, bridgeId, model: model.name })}\n`;
}

/** The text for a person. */
export function readyText(ready: Ready): string {
  const { page } = ready;
  const chat = commandFor(ready, 'chat');
  const first = page ? `${page.about}\n${page.link}\n\n` : '';
  return `
Drawbridge is ready. Ctrl-C ends it.

  API        ${ready.url}
  Token      ${commandFor(ready, 'token')}
  Model      ${inOneLine(ready.model.text)}
${pageLine(ready)}  Workspace  ${nameInLine(ready.workspaceDir)}
  Bridge     ${bridgeText(ready)}
  Commands   ${inOneLine(confinementText(ready.confinement))}

${first}Talk to it in another terminal:

  ${chat}

Three things to try there:

  list the files here
  search for TODO
  run git status

`;
}

/** The model that answers a request that names none: its name, if there is one, and words for a person. */
export interface ModelNames {
  readonly name: string | null;
  readonly text: string;
}

export function nameModel(model: ModelSettings): ModelNames {
  const name = model.kind === 'demo' ? 'demo' : (model.model ?? null);
  return { name, text: modelText(model) };
}

/** The model that answers, for a person. */
export function modelText(model: ModelSettings): string {
  if (model.kind === 'demo') {
    return `built-in demo (no LLM): \`${ownCommand('config', 'model')}\` chooses a real model`;
  }
  if (model.kind === 'table') {
    return `${model.model ?? 'none by default'} (the table has ${model.models.join(', ')})`;
  }
  return `${model.model ?? 'the one that a request names (set OPENAI_MODEL for a default)'} at ${model.baseUrl}`;
}

/** The page connects the folder, which a server without bridges refuses. */
function pageLine(ready: Ready): string {
  return ready.bridgeId === null ? '' : `  Page       ${commandFor(ready, 'open')}\n`;
}

function bridgeText({ bridgeId }: Ready): string {
  if (bridgeId === null)
    return 'none (--no-bridge): the agent can neither read files nor run commands';
  return 'reads and edits files in the workspace, and runs commands there';
}

/** Whether and how the commands of a bridge are confined. */
export function confinementText(confinement: ReportedConfinement | null): string {
  switch (confinement?.kind) {
    case undefined:
      return 'the agent cannot run any';
    case 'bubblewrap':
    case 'sandbox-runtime':
      return `run in a sandbox. ${confinement.detail}`;
    case 'none':
      return `run without a sandbox, so each one asks you first. ${confinement.detail}`;
  }
}

/** A command line for this instance that works in any shell and in any folder. */
function commandFor({ programs, workspaceDir, stateDir }: Ready, command: string): string {
  const [, ...program] = programs.drawbridge;
  const words = ['node', ...program, command, '--workspace', workspaceDir];
  if (stateDir !== undefined) words.push('--state', stateDir);
  return commandLine(words);
}
