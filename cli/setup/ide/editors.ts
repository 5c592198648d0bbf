/** The table of editors: how each is recognised, and how a companion gets into it. */
import type { Environment } from '../../../machine/environment.ts';
export interface Editor {
  /** On the command line. */
  readonly name: string;
  readonly displayName: string;
  /** Whether the environment is that of this editor's terminal. */
  readonly isHere: (environment: Environment) => boolean;
  /** Names of its command line program, the first that is found counts; or why it is not for Drawbridge to install into. */
  readonly install: readonly string[] | { readonly byHand: string };
  /** Where the program lies if it is not in PATH; `~/` is the home folder. */
  readonly programs?: Partial<Record<NodeJS.Platform, readonly string[]>>;
}

/** The identifiers are the same in Microsoft's marketplace and in Open VSX, where forks of VS Code look. */
export const EXTENSIONS = {
  gemini: 'google.gemini-cli-vscode-ide-companion',
  qwen: 'qwenlm.qwen-code-vscode-ide-companion',
} as const;

/** In the order in which they are recognised: forks of VS Code set its variables too, so VS Code itself comes last. */
export const EDITORS: readonly Editor[] = [
  {
    name: 'antigravity',
    displayName: 'Antigravity',
    isHere: ({ ANTIGRAVITY_CLI_ALIAS }) => Boolean(ANTIGRAVITY_CLI_ALIAS),
    install: ['agy', 'antigravity'],
    programs: { darwin: ['/Applications/Antigravity.app/Contents/Resources/app/bin/antigravity'] },
  },
  {
    name: 'devin',
    displayName: 'Devin',
    isHere: ({ __COG_BASHRC_SOURCED: sourced }) => Boolean(sourced),
    install: { byHand: 'install it in the Extensions view of its editor' },
  },
  {
    name: 'replit',
    displayName: 'Replit',
    isHere: ({ REPLIT_USER }) => Boolean(REPLIT_USER),
    install: { byHand: 'its editor takes no extension of VS Code' },
  },
  {
    name: 'cursor',
    displayName: 'Cursor',
    isHere: (own) => Boolean(own['CURSOR_TRACE_ID']) || runsInside(own, /cursor/i),
    install: ['cursor'],
    programs: { darwin: ['/Applications/Cursor.app/Contents/Resources/app/bin/cursor'] },
  },
  {
    name: 'codespaces',
    displayName: 'GitHub Codespaces',
    isHere: ({ CODESPACES }) => Boolean(CODESPACES),
    install: ['code'],
  },
  {
    name: 'cloudshell',
    displayName: 'Cloud Shell',
    isHere: (own) => Boolean(own['EDITOR_IN_CLOUD_SHELL'] || own['CLOUD_SHELL']),
    install: { byHand: 'install it in the Extensions view of its editor' },
  },
  {
    name: 'trae',
    displayName: 'Trae',
    isHere: ({ TERM_PRODUCT }) => TERM_PRODUCT === 'Trae',
    install: ['trae'],
  },
  {
    name: 'firebasestudio',
    displayName: 'Firebase Studio',
    isHere: ({ MONOSPACE_ENV }) => Boolean(MONOSPACE_ENV),
    install: ['code'],
  },
  {
    name: 'positron',
    displayName: 'Positron',
    isHere: ({ POSITRON }) => POSITRON === '1',
    install: ['positron'],
    programs: { darwin: ['/Applications/Positron.app/Contents/Resources/app/bin/code'] },
  },
  {
    name: 'windsurf',
    displayName: 'Windsurf',
    isHere: (own) => runsInside(own, /windsurf/i),
    install: ['windsurf'],
    programs: { darwin: ['/Applications/Windsurf.app/Contents/Resources/app/bin/windsurf'] },
  },
  {
    name: 'vscodium',
    displayName: 'VSCodium',
    isHere: (own) => runsInside(own, /codium/i),
    install: ['codium', 'vscodium'],
    programs: {
      darwin: ['/Applications/VSCodium.app/Contents/Resources/app/bin/codium'],
      linux: ['/usr/share/codium/bin/codium', '/snap/bin/codium'],
    },
  },
  {
    name: 'vscode-insiders',
    displayName: 'VS Code Insiders',
    isHere: (own) =>
      own['TERM_PROGRAM'] === 'vscode' &&
      Boolean(own['TERM_PROGRAM_VERSION']?.endsWith('-insider')),
    install: ['code-insiders'],
    programs: {
      darwin: [
        '/Applications/Visual Studio Code - Insiders.app/Contents/Resources/app/bin/code-insiders',
        '/Applications/Visual Studio Code - Insiders.app/Contents/Resources/app/bin/code',
      ],
      linux: ['/usr/share/code-insiders/bin/code-insiders', '/snap/bin/code-insiders'],
    },
  },
  {
    name: 'vscode',
    displayName: 'VS Code',
    isHere: ({ TERM_PROGRAM }) => TERM_PROGRAM === 'vscode',
    install: ['code'],
    programs: {
      darwin: [
        '/Applications/Visual Studio Code.app/Contents/Resources/app/bin/code',
        '~/Applications/Visual Studio Code.app/Contents/Resources/app/bin/code',
      ],
      linux: ['/usr/share/code/bin/code', '/snap/bin/code', '~/.local/share/code/bin/code'],
    },
  },
  {
    name: 'jetbrains',
    displayName: 'JetBrains IDE',
    isHere: ({ TERMINAL_EMULATOR }) => /jetbrains/i.test(TERMINAL_EMULATOR ?? ''),
    install: { byHand: 'look for a companion of Gemini CLI or Qwen Code among its plugins' },
  },
  {
    name: 'sublime',
    displayName: 'Sublime Text',
    isHere: ({ TERM_PROGRAM }) => TERM_PROGRAM === 'sublime',
    install: { byHand: 'look for a companion of Gemini CLI or Qwen Code among its packages' },
  },
  {
    name: 'zed',
    displayName: 'Zed',
    isHere: (own) => own['TERM_PROGRAM'] === 'Zed' || Boolean(own['ZED_SESSION_ID']),
    install: { byHand: 'look for a companion of Gemini CLI or Qwen Code among its extensions' },
  },
  {
    name: 'xcode',
    displayName: 'Xcode',
    isHere: ({ XCODE_VERSION_ACTUAL }) => Boolean(XCODE_VERSION_ACTUAL),
    install: { byHand: 'it has no extension that could be a companion' },
  },
];

/** Forks of VS Code give their terminals the path of their own program, for git to ask for passwords. */
function runsInside(environment: Environment, program: RegExp): boolean {
  const { TERM_PROGRAM, VSCODE_GIT_ASKPASS_NODE = '' } = environment;
  return TERM_PROGRAM === 'vscode' && program.test(VSCODE_GIT_ASKPASS_NODE);
}

/** The editor whose terminal this is, as far as its variables say. */
export function detectEditor(environment: Environment): Editor | undefined {
  return EDITORS.find(({ isHere }) => isHere(environment));
}
