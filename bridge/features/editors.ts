/**
 * Editors: the one on this machine, which shows what the person looks at and asks in its diff view; and other agent programs,
 * to which the bridge is an editor.
 */
import { isAbsolute, join } from 'node:path';
import { wayBelow } from '../../machine/below.ts';
import {
  CompanionHost,
  editorContext,
  editorDiagnostics,
  Guests,
  guestContext,
  linkHere,
} from '../../packages/editors/index.ts';
import type { ShowableNames } from '../context/looker.ts';
import type { BridgeGround, Feature } from '../feature.ts';

export interface EditorFeature extends Feature {
  /** The files that are open in an editor, relative to the workspace. */
  readonly openFiles: () => Promise<readonly string[]>;
}

export function editors({ config, workspace, owner, cancel }: BridgeGround): EditorFeature {
  const { stateDir } = config;
  const { root } = workspace;
  const guests = new Guests({ root, workspace, cancel });
  const companion = new CompanionHost({
    stateDir,
    root,
    onDiff: async (diff, ended) => {
      // A guest may spell the workspace through a link of its own.
      const { filePath } = diff;
      const way = isAbsolute(filePath) ? await wayBelow(root, filePath) : undefined;
      const named = way === undefined ? diff : { ...diff, filePath: join(root, way) };
      return await guests.ask(named, ended);
    },
  });
  const { distrust } = owner;
  const link = linkHere(root, { ...config, distrust }, (view) =>
    companion.contextChanged(guestContext(view)),
  );
  const shown = async (showable: Pick<ShowableNames, 'mayName' | 'mayRead'>) =>
    link.view && (await editorContext(link.view, { workspace, ...showable }));
  return {
    inRoom: ({ kind }) => ({ tools: kind === 'workspace' ? [guests.tool] : [] }),
    asker: link.asker,
    look: async (showable) => ({
      editor: await shown({ ...showable, mayName: showable.mayVolunteer }),
    }),
    finds: {
      diagnose: (used, { readable, signal }) => editorDiagnostics(link, { used, readable, signal }),
    },
    feeds: [guests],
    guestCalls: guests,
    openFiles: async () => {
      const editor = await shown(await owner.readFindable());
      return editor?.openFiles.map(({ path }) => path) ?? [];
    },
    end: async (callsEnded) => {
      // The calls may still ask in the editor.
      await Promise.all([companion.end(), callsEnded.then(() => link.end())]);
    },
  };
}
