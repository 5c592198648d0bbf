/** The table of both families: how their companions, old and new, announce themselves. */
import { isAbsolute, join } from 'node:path';
import type { Family, SearchPlace } from './candidate.ts';

interface Announcing {
  readonly variables: {
    readonly port: string;
    readonly roots: string;
    readonly token?: string;
    /** The person's own choice of the editor's process. */
    readonly pid?: string;
    readonly program: string;
  };
  readonly files: readonly {
    /** One number in a name is a port where the file has the same port, else a process id; of two the first is the id. */
    readonly name: RegExp;
    readonly in: 'temporary' | 'settings';
    readonly folders: readonly string[];
  }[];
}

export const FAMILIES: Readonly<Record<Family, Announcing>> = {
  gemini: {
    variables: {
      port: 'GEMINI_CLI_IDE_SERVER_PORT',
      roots: 'GEMINI_CLI_IDE_WORKSPACE_PATH',
      token: 'GEMINI_CLI_IDE_AUTH_TOKEN',
      pid: 'GEMINI_CLI_IDE_PID',
      program: 'GEMINI_CLI_IDE_SERVER_STDIO_COMMAND',
    },
    files: [
      {
        name: /^gemini-ide-server-(\d{1,10})(?:-(\d{1,5}))?\.json$/,
        in: 'temporary',
        // Since 0.22 in the folder, as specified; before in the root, by process id and by port.
        folders: ['gemini/ide', '.'],
      },
    ],
  },
  qwen: {
    variables: {
      port: 'QWEN_CODE_IDE_SERVER_PORT',
      roots: 'QWEN_CODE_IDE_WORKSPACE_PATH',
      program: 'QWEN_CODE_IDE_SERVER_STDIO_COMMAND',
    },
    files: [
      // What companions write since 0.5.1.
      { name: /^(\d{1,5})\.lock$/, in: 'settings', folders: ['ide'] },
      {
        name: /^qwen-code-ide-server-(\d{1,10})(?:-(\d{1,5}))?\.json$/,
        in: 'temporary',
        // As specified; where CLIs up to 0.5 looked by a slip; and the root, where companions up to 0.5.0 wrote.
        folders: ['qwen/ide', 'gemini/ide', '.'],
      },
    ],
  },
};

/** The owner's choice of a companion, by its port, whatever folder it has open. */
export const CHOICE = 'DRAWBRIDGE_IDE_PORT';

/** The name in `ideInfo` of Drawbridge's own companion: a bridge that connected to it would ask itself. */
export const OWN_NAME = 'drawbridge';

/** A kind of file to look for in a folder. */
export interface WantedFile {
  readonly family: Family;
  readonly name: RegExp;
}

/** Each folder once, with what may lie there. */
export function foldersToSearch(place: SearchPlace): ReadonlyMap<string, readonly WantedFile[]> {
  const searched = new Map<string, WantedFile[]>();
  for (const family of Object.keys(FAMILIES) as Family[]) {
    for (const { name, in: kind, folders } of FAMILIES[family].files) {
      const bases = kind === 'temporary' ? place.temporaryFolders : settingsFolders(place);
      for (const base of bases) {
        for (const folder of folders) {
          const path = join(base, folder);
          searched.set(path, [...(searched.get(path) ?? []), { family, name }]);
        }
      }
    }
  }
  return searched;
}

/** Qwen Code's. The editor's process need not have the QWEN_HOME of this one. */
function settingsFolders({ environment, home }: SearchPlace): readonly string[] {
  const moved = environment['QWEN_HOME'];
  return [...new Set([...(moved && isAbsolute(moved) ? [moved] : []), join(home, '.qwen')])];
}
