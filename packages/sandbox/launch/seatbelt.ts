/** Seatbelt, the sandbox of macOS: what the runtime's profile lacks. Apple documents no part of the language. */
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isBelow } from '../../../machine/byte-path.ts';
import { SHELL } from '../terminal/launch.ts';
import { READ_SCRIPT } from './runtime.ts';

/** A system on which the runtime works. */
export interface RuntimePlatform {
  /** What commands do not see although the system's other folders are open. */
  readonly closed: (home: string, workspace: string) => readonly string[];
  /** The runtime's line as a program with arguments. Throws for a line of another form. */
  readonly argvOf: (line: string, network: 'open' | 'closed') => readonly string[];
  /** The same for a command that may do everything but reach these folders; the workspace may lie in one of them. */
  readonly openArgv: (closed: readonly string[], workspace: string) => readonly string[];
}

/** The real one. */
export const seatbelt: RuntimePlatform = {
  closed: (home, workspace) => [
    '/Users',
    '/Volumes',
    '/Library/Keychains',
    `${home}/Library/Keychains`,
    // Of other programs. A command has a folder of its own.
    '/private/tmp',
    '/private/var/tmp',
    '/private/var/folders',
    // Other work, where it lies in no home folder.
    ...[dirname(workspace)].filter((folder) => folder !== '/'),
  ],
  argvOf: (line, network) => {
    const all = wordsOf(line);
    const at = all.indexOf(SANDBOX_EXEC);
    const [flag, profile = '', ...program] = all.slice(at + 1);
    const isKnown =
      all[0] === 'env' &&
      all.slice(1, at).every((word) => /^\w+=/.test(word)) &&
      flag === '-p' &&
      profile.startsWith('(version 1)\n(deny default ') &&
      (network === 'open' || !profile.includes('(allow network')) &&
      isDeepStrictEqual(program, [SHELL, '-c', READ_SCRIPT]);
    if (!isKnown) throw new Error('sandbox-runtime made a sandbox of another form than expected');
    // Without its variables, and without `env`, which the shell would look up in PATH.
    return [SANDBOX_EXEC, flag, [profile, ...RULES[network], ''].join('\n'), ...program];
  },
  openArgv: (closed, workspace) => {
    const isAround = (path: string) => isBelow(path, workspace);
    const deny = (path: string) => `(deny file-read* file-write* (subpath ${quoted(path)}))`;
    const profile = [
      '(version 1)',
      '(allow default)',
      ...closed.filter(isAround).map(deny),
      `(allow file-read* file-write* (subpath ${quoted(workspace)}))`,
      ...closed.filter((path) => !isAround(path)).map(deny),
      // A program finds its folder by those around it.
      '(allow file-read-metadata (vnode-type DIRECTORY))',
      // Under another name a folder would be open.
      ...[...new Set(closed.flatMap(pathsTo))].map(
        (path) => `(deny file-write-unlink (literal ${quoted(path)}))`,
      ),
    ];
    return [SANDBOX_EXEC, '-p', profile.join('\n'), SHELL, '-c', READ_SCRIPT];
  },
};

const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

/** Added at the end, where a rule wins over those before it. */
const RULES = {
  closed: [
    // With their files unreadable, items can still be asked for at the keychain's services.
    '(deny mach-lookup',
    '  (global-name "com.apple.SecurityServer")',
    '  (global-name "com.apple.securityd.xpc"))',
  ],
  open: [
    // Programs such as Docker give everything to a process that reaches their socket.
    '(deny network-bind (local unix-socket))',
    '(deny network-outbound (remote unix-socket))',
    // Names of hosts are looked up, and certificates checked, by services of the system.
    '(allow system-socket (socket-domain AF_UNIX))',
    '(allow network-outbound (remote unix-socket (subpath "/private/var/run/mDNSResponder")))',
    '(allow mach-lookup (global-name "com.apple.trustd.agent"))',
  ],
} as const;

function quoted(path: string): string {
  return JSON.stringify(path);
}

/** The path, and the folders around it. */
function pathsTo(path: string): string[] {
  const parts = path.split('/').slice(1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}

/** The words of a line in which every character that a shell would read stands in quotes. */
function wordsOf(line: string): string[] {
  return (line.match(/(?:[^\s'"]|'[^']*'|"'")+/g) ?? []).map((word) =>
    word.replaceAll(
      /'([^']*)'|"(')"/g,
      (_, single?: string, double?: string) => single ?? double ?? '',
    ),
  );
}
