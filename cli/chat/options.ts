/** The options of the commands that chat, and the chat that they describe. */
import { InvalidArgumentError, Option } from 'commander';
import { createClient } from '../../client/index.ts';
import { readSettings } from '../../local/config/settings.ts';
import { PRIVACY_LIMITS } from '../../shared/limits.ts';
import { ModeName } from '../../shared/wire/definitions.ts';
import { Mode } from '../../shared/wire/modes.ts';
import { stateDirOf } from '../target/location-options.ts';
import { bridgeForNew, lastConversation, requireHere } from '../target/own-bridge.ts';
import { findTarget, type TargetOptions, targetWordsOf } from '../target/target.ts';
import { parseConversationId } from '../target/typed-ids.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import type { Chat } from './chat.ts';
import { readImage } from './image-file.ts';

/** The options as commander parses them. */
export interface ChatOptions extends TargetOptions {
  readonly mode?: string;
  readonly questions?: 'ask' | 'never' | 'default' | 'stop';
  readonly answerWithin?: number;
  readonly model?: string;
  readonly maxTurns?: number;
  readonly deleteAfter?: number;
  readonly conversation?: string;
  readonly continue?: boolean;
  readonly image?: readonly string[];
  readonly reasoning: boolean;
  readonly json: boolean;
}

/** Of the commands that chat. */
export function modeOption(): Option {
  const names = `${Mode.options.join(', ')}, or a mode of the workspace`;
  const help = `${names} (default: your setting, else agent)`;
  return new Option('--mode <mode>', help).argParser(parseMode);
}

function parseMode(name: string): string {
  if (ModeName.safeParse(name).success) return name;
  throw new InvalidArgumentError('A mode has lower-case letters, digits and hyphens.');
}

/** Of the commands that begin a conversation. */
export function deleteAfterOption(): Option {
  const help = 'make it private: delete its text this long after the last answer';
  const parse = wholeNumber(0, PRIVACY_LIMITS.maxHours);
  return new Option('--delete-after <hours>', help).argParser(parse);
}

/** What the request says of questions; undefined where the options say nothing. */
function policyOf({ questions, answerWithin }: ChatOptions): Chat['questions'] {
  if (questions === undefined && answerWithin === undefined) return undefined;
  return {
    allowed: questions !== 'never',
    ...(answerWithin !== undefined && { afterSeconds: answerWithin }),
    ...((questions === 'default' || questions === 'stop') && { otherwise: questions }),
  };
}

/** The chat that the options describe. */
export async function openChat(options: ChatOptions, terminal: Terminal): Promise<Chat> {
  const { mode } = await readSettings(process.env, { mode: options.mode });
  const { model, maxTurns, deleteAfter, conversation, image: files = [] } = options;
  const named = conversation === undefined ? undefined : parseConversationId(conversation);
  const images = await Promise.all(files.map(readImage));
  const target = await findTarget(options);
  const { device, own } = target;
  const client = createClient(target);
  const conversationId = options.continue ? await lastConversation(client, target) : named;
  if (named !== undefined) await requireHere(client, target, named);
  const warn = (line: string) => terminal.write(`${terminal.paint('yellow', line)}\n`);
  return {
    client,
    device,
    own,
    terminal,
    format: options.json ? 'json' : 'text',
    mode,
    model,
    questions: policyOf(options),
    maxTurns,
    deleteAfterHours: deleteAfter,
    withReasoning: options.reasoning,
    images,
    targetWords: targetWordsOf(options),
    url: target.url,
    stateDir: await stateDirOf(options),
    conversationId,
    ...(conversationId === undefined && { bridgeId: await bridgeForNew(client, target, warn) }),
  };
}
