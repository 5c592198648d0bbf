/** What `drawbridge up` prints when the instance is ready. */
import type { ModelSettings } from '../../local/settings.ts';
import { inOneLine, nameInLine } from '../../shared/text/plain-sight.ts';
import type { ReportedConfinement } from '../../shared/wire/tunnel.ts';
import { EXAMPLES } from '../chat/message.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { foldedAt } from '../terminal/short-line.ts';

export interface Ready {
  readonly url: string;
  /** The user's token. Only {@link readyLine} shows it. */
  readonly token: string;
  /** Null without a bridge, as is `confinement`. */
  readonly bridgeId: string | null;
  readonly confinement: ReportedConfinement | null;
  readonly model: ModelNames;
  readonly workspaceDir: string;
  /** The options of the command that name the folder: commands for this instance repeat them. */
  readonly locationWords: readonly string[];
}

/** One line of JSON for programs. `model` is null if each request must name one. */
export function readyLine({ url, token, bridgeId, model }: Ready): string {
  return `${JSON.stringify({ event: 'ready', url, token, bridgeId, model: model.name })}\n`;
}

/** The text for a person. */
export function readyText(ready: Ready, columns: number | undefined): string {
  const folded = (text: string) => foldedAt(inOneLine(text), columns, LABEL_COLUMNS);
  const command = (name: string) => ownCommand(name, ...ready.locationWords);
  // The page connects the folder, which a server without bridges refuses.
  const page = ready.bridgeId === null ? '' : `  Page       ${command('open')}\n`;
  return `
Drawbridge is ready. Ctrl-C ends it.

  API        ${ready.url}
  Token      ${command('token')}
  Model      ${folded(modelLine(ready.model))}
${page}  Workspace  ${nameInLine(ready.workspaceDir)}
  Bridge     ${folded(bridgeText(ready))}
  Commands   ${folded(confinementText(ready.confinement))}

Talk to it in another terminal, in this folder:

  ${command('chat')}

Three things to try there:

${EXAMPLES.map((example) => `  ${example}\n`).join('')}
`;
}

/** Before the values of {@link readyText}. */
const LABEL_COLUMNS = 13;

/** The model that answers a request that names none: its name, if there is one, and words for a person. */
export interface ModelNames {
  readonly name: string | null;
  readonly text: string;
}

export function nameModel(model: ModelSettings): ModelNames {
  const name = model.kind === 'demo' ? 'demo' : (model.model ?? null);
  return { name, text: modelText(model) };
}

/** The model that answers, with the command that changes it. That is another one in each terminal. */
export function modelLine({ name, text }: ModelNames): string {
  if (name !== 'demo' || text !== DEMO_TEXT) return text;
  return `${text}: \`${ownCommand('config', 'model')}\` chooses a real model`;
}

const DEMO_TEXT = 'built-in demo (no LLM)';

function modelText(model: ModelSettings): string {
  if (model.kind === 'demo') return DEMO_TEXT;
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
