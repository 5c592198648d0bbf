/** The language servers that are started where they are installed. */
import { extname } from 'node:path';

export interface ServerKind {
  readonly name: string;
  /** The language that the server calls a file by its extension. */
  readonly files: Readonly<Record<string, string>>;
  /**
   * A line of a shell in the sandbox, in the workspace's folder. It ends with exit code 127 where the server is not
   * installed. The sandbox looks for the program, not the bridge: nothing that the agent can write names a program that
   * runs outside of it.
   */
  readonly command: string;
  /**
   * Whether it answers about files that it was not given, as the disk has them. One file more that is open can cost
   * TypeScript as much as a whole answer.
   */
  readonly answersUnopened?: boolean;
}

/** The first of these programs that is there, in the project or on the owner's PATH. */
function firstOf(...lines: readonly string[]): string {
  return [IN_PROJECT, ...lines.map(startOf), 'exit 127'].join('\n');
}

function startOf(line: string): string {
  return `command -v ${line.split(' ')[0]} >/dev/null && exec ${line}`;
}

const IN_PROJECT = 'PATH="$PWD/node_modules/.bin:$PWD/.venv/bin:$PATH"';

/**
 * TypeScript 7 is a server itself. Its script in npm's package starts the program, and would stay beside it. A project
 * with an older TypeScript is checked by that one where a server for it is there, else by the owner's TypeScript 7.
 */
const TYPESCRIPT = `for t in node_modules/@typescript/typescript-*/lib/tsc; do
[ -x "$t" ] && exec "$t" --lsp --stdio
done
owners=$(command -v tsc)
${IN_PROJECT}
older() {
${['typescript-language-server --stdio', 'vtsls --stdio'].map(startOf).join('\n')}
}
[ -e node_modules/typescript/lib/tsserver.js ] && older
case "$([ -n "$owners" ] && "$owners" --version)" in "Version "[7-9]*) exec "$owners" --lsp --stdio;; esac
older
exit 127`;

export const KNOWN_SERVERS: readonly ServerKind[] = [
  {
    name: 'typescript',
    files: {
      '.ts': 'typescript',
      '.mts': 'typescript',
      '.cts': 'typescript',
      '.js': 'javascript',
      '.mjs': 'javascript',
      '.cjs': 'javascript',
      '.tsx': 'typescriptreact',
      '.jsx': 'javascriptreact',
    },
    command: TYPESCRIPT,
    answersUnopened: true,
  },
  {
    name: 'python',
    files: { '.py': 'python', '.pyi': 'python' },
    command: firstOf('basedpyright-langserver --stdio', 'pyright-langserver --stdio', 'pylsp'),
  },
  { name: 'go', files: { '.go': 'go' }, command: firstOf('gopls') },
  { name: 'rust', files: { '.rs': 'rust' }, command: firstOf('rust-analyzer') },
  {
    name: 'json',
    files: { '.json': 'json', '.jsonc': 'jsonc' },
    command: firstOf('vscode-json-language-server --stdio'),
  },
  {
    name: 'css',
    files: { '.css': 'css', '.scss': 'scss', '.less': 'less' },
    command: firstOf('vscode-css-language-server --stdio'),
  },
  {
    name: 'html',
    files: { '.html': 'html', '.htm': 'html' },
    command: firstOf('vscode-html-language-server --stdio'),
  },
];

/** What a server calls the language of a file. */
export function languageIdOf({ files }: ServerKind, path: string): string {
  const id = files[extname(path).toLowerCase()] ?? 'plaintext';
  return id === 'json' && WITH_COMMENTS.test(path) ? 'jsonc' : id;
}

/** Files that may have comments, whatever their extension says. */
const WITH_COMMENTS =
  /(?:^|\/)(?:\.vscode\/[^/]+|[jt]sconfig(?:\.[^/]+)?|\.eslintrc|\.babelrc|devcontainer|biome|deno|turbo|nx|api-extractor)\.json$/;

/** Variables of every server. The home folder is read-only in the sandbox, so caches go to its own `/tmp`. */
export const SERVER_VARIABLES: Readonly<Record<string, string>> = {
  XDG_CACHE_HOME: '/tmp/cache',
  GOCACHE: '/tmp/go-build',
  CARGO_TARGET_DIR: '/tmp/cargo-target',
};
