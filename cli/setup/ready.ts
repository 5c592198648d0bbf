/** What `drawbridge up` says when everything answers. */
import type { Programs } from '../../local/instance.ts';
import type { ModelSettings } from '../../local/settings.ts';
import { inOneLine, nameInLine } from '../../shared/plain-sight.ts';
import type { Confinement } from '../../shared/tunnel.ts';
import { commandLine } from '../terminal/own-command.ts';

export interface Ready {
  readonly url: string;
  /** The user's token. Only {@link readyLine} shows it. */
  readonly token: string;
  /** Null without a bridge, like the confinement. */
  readonly bridgeId: string | null;
  readonly confinement: Confinement | null;
  readonly model: ModelSettings;
  /** Undefined if it is the workspace's usual one. */
  readonly stateDir: string | undefined;
  readonly workspaceDir: string;
  readonly programs: Programs;
}

/** One line of JSON for programs. `model` is null if the requests have to name one. */
export function readyLine({ url, token, bridgeId, model }: Ready): string {
  const name = model.kind === 'demo' ? 'demo' : (model.model ?? null);
  return `${JSON.stringify({ event: 'ready', url, token, bridgeId, model: name })}\n`;
}

/** A page for people. */
export function readyText(ready: Ready): string {
  const chat = commandFor(ready, 'chat');
  return `
Drawbridge is ready. Ctrl-C ends it.

  API        ${ready.url}
  Token      ${commandFor(ready, 'token')}
  Model      ${inOneLine(modelText(ready.model))}
  Workspace  ${nameInLine(ready.workspaceDir)}
  Bridge     ${bridgeText(ready)}
  Commands   ${inOneLine(confinementText(ready.confinement))}

Talk to it in another terminal:

  ${chat}

Three things to try there:

  list the files here
  search for TODO
  run git status

`;
}

function modelText(model: ModelSettings): string {
  if (model.kind === 'demo') {
    return 'demo model (no LLM): set OPENAI_BASE_URL / OPENAI_API_KEY for a real one';
  }
  if (model.kind === 'table') {
    return `${model.model ?? 'none by default'} (the table has ${model.models.join(', ')})`;
  }
  return `${model.model ?? 'the one that a request names (set OPENAI_MODEL for a default)'} at ${model.baseUrl}`;
}

function bridgeText({ bridgeId }: Ready): string {
  if (bridgeId === null)
    return 'none (--no-bridge): the agent can neither read files nor run commands';
  return 'reads and edits files in the workspace, and runs commands there';
}

function confinementText(confinement: Confinement | null): string {
  switch (confinement?.kind) {
    case undefined:
      return 'none are run';
    case 'bubblewrap':
      return `confined. ${confinement.detail}`;
    case 'none':
      return `not confined, so each one asks. ${confinement.detail}`;
  }
}

/** A command about this instance, ready to be pasted into any shell in any folder. */
function commandFor({ programs, workspaceDir, stateDir }: Ready, command: string): string {
  const [, ...program] = programs.drawbridge;
  const words = ['node', ...program, command, '--workspace', workspaceDir];
  if (stateDir !== undefined) words.push('--state', stateDir);
  return commandLine(words);
}
