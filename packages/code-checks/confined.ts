/** Language servers in the sandbox, where they can write nothing of the workspace. */
import { type Confinement, spawnLaunch } from '../sandbox/index.ts';
import { SERVER_VARIABLES } from './known-servers.ts';
import { type BeginProgram, NoAnswer } from './language-server.ts';
import { readServerChoice } from './own-list.ts';
import { LanguageServers } from './servers.ts';

/** A folder, and what its servers depend on. */
export interface ConfinedPlace {
  /** Absolute and resolved. */
  readonly root: string;
  readonly confinement: Confinement;
  readonly stateDir: string;
  /** Whether the person's editor does not trust the folder: it starts no program of it either. */
  readonly isDistrusted: () => boolean;
}

export function confinedServers({
  root,
  confinement,
  stateDir,
  isDistrusted,
}: ConfinedPlace): LanguageServers {
  const { kind, detail } = confinement;
  return new LanguageServers({
    root,
    begin: confinedBegin(confinement, root),
    readChoice: () => readServerChoice(stateDir),
    whyNot: () => {
      if (kind === 'none') return `it runs only in the sandbox, and there is none (${detail})`;
      return isDistrusted() ? 'the editor does not trust this folder' : undefined;
    },
  });
}

/**
 * A server runs code of the project (plugins, settings, its own files in `node_modules`), which the agent can write. So
 * it never runs outside the sandbox.
 */
function confinedBegin(confinement: Confinement, root: string): BeginProgram {
  return async (command) => {
    const request = {
      command,
      cwd: root,
      permissions: [],
      isServer: true,
      isReadOnly: true,
      variables: SERVER_VARIABLES,
    };
    try {
      return await confinement.start(request, async ({ launch }) => spawnLaunch(launch, 'pipe'));
    } catch (cause) {
      throw new NoAnswer('the sandbox could not start it', { cause });
    }
  };
}
