/** What a line that begins with a slash does. An unknown one is a message like any other. */

import type { Skill } from '../../shared/wire/skills.ts';
import { download } from '../parts/download.ts';
import { go } from '../route.ts';
import type { PageAccount } from '../store/account.ts';
import type { Thread } from '../store/thread.ts';
import { words } from '../words/words.ts';

export interface ComposerCommand {
  readonly name: string;
  readonly help: string;
  /** Absent for one that the composer itself does. */
  run?(account: PageAccount, thread: Thread | undefined): Promise<void> | void;
  /** What it puts into the field: a skill or a command of the machine, whose message goes on with what it works on. */
  readonly text?: string;
  /** The mode that it chooses. */
  readonly mode?: string;
  /** Whether there is nothing to do before the first message. */
  readonly needsThread?: true;
}

const MODES: readonly ComposerCommand[] = Object.entries(words.modes).map(([mode, name]) => ({
  name: mode,
  mode,
  help: `${words.mode}: ${name}`,
}));

const COMMANDS: readonly ComposerCommand[] = [
  { name: 'new', help: words.newConversation, run: () => go({ at: 'new' }) },
  { name: 'inbox', help: words.inbox, run: () => go({ at: 'inbox' }) },
  { name: 'settings', help: words.settings, run: () => go({ at: 'settings' }) },
  ...MODES,
  {
    name: 'stop',
    needsThread: true,
    help: words.stop,
    run: async ({ client }, thread) => {
      if (thread?.current) await client.cancel(thread.current.id);
    },
  },
  {
    name: 'fork',
    needsThread: true,
    help: words.forkHelp,
    run: async ({ client }, thread) => {
      if (!thread?.current) return;
      const { conversationId } = await client.forkConversation(thread.id, thread.current.id);
      go({ at: 'conversation', id: conversationId });
    },
  },
  {
    name: 'export',
    needsThread: true,
    help: words.exportMarkdown,
    run: async ({ client }, thread) => {
      if (thread) download(`${thread.view?.title}.md`, await client.exportMarkdown(thread.id));
    },
  },
];

/** The commands that what was typed can become; none once there is more than a word. */
export function commandsFor(
  text: string,
  isInThread: boolean,
  skills: readonly ComposerCommand[],
): readonly ComposerCommand[] {
  const [, typed] = /^\/([\w.:-]*)$/.exec(text) ?? [];
  return typed === undefined
    ? []
    : [...COMMANDS, ...skills].filter(
        ({ name, needsThread }) => name.startsWith(typed) && (isInThread || !needsThread),
      );
}

/** The machine's own, for a person. */
export function skillCommands(skills: readonly Skill[]): readonly ComposerCommand[] {
  return skills
    .filter(({ callers }) => callers !== 'model')
    .map(({ name, description: help }) => ({ name, help, text: `/${name} ` }));
}
