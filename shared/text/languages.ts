/** Finds a file's language by its name, in the names that syntax highlighters know. */

/** Returns `plaintext` for an unknown name. */
export function languageOf(filePath: string): string {
  const name = filePath.slice(Math.max(filePath.lastIndexOf('/'), filePath.lastIndexOf('\\')) + 1);
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return BY_NAME.get(name.toLowerCase()) ?? BY_EXTENSION.get(extension) ?? 'plaintext';
}

/** Language -> its extensions. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  astro: 'astro',
  bash: 'sh bash zsh fish',
  bat: 'bat cmd',
  c: 'c h',
  clojure: 'clj cljs cljc edn',
  cpp: 'cc cpp cxx hh hpp hxx ino',
  csharp: 'cs csx',
  css: 'css',
  csv: 'csv',
  dart: 'dart',
  diff: 'diff patch',
  dockerfile: 'dockerfile',
  elixir: 'ex exs',
  elm: 'elm',
  erlang: 'erl hrl',
  fsharp: 'fs fsi fsx',
  go: 'go',
  graphql: 'graphql gql',
  groovy: 'groovy gradle',
  haskell: 'hs',
  html: 'html htm xhtml',
  ini: 'ini cfg conf properties',
  java: 'java',
  javascript: 'js mjs cjs',
  jsx: 'jsx',
  json: 'json webmanifest ipynb',
  jsonc: 'jsonc json5',
  julia: 'jl',
  kotlin: 'kt kts',
  latex: 'tex sty cls',
  less: 'less',
  lua: 'lua',
  makefile: 'mk mak',
  markdown: 'md markdown mdc',
  mdx: 'mdx',
  nix: 'nix',
  'objective-c': 'm mm',
  ocaml: 'ml mli',
  perl: 'pl pm',
  php: 'php',
  powershell: 'ps1 psm1 psd1',
  prisma: 'prisma',
  proto: 'proto',
  python: 'py pyi pyw',
  r: 'r',
  ruby: 'rb rake gemspec',
  rust: 'rs',
  sass: 'sass',
  scala: 'scala sc sbt',
  scss: 'scss',
  solidity: 'sol',
  sql: 'sql',
  svelte: 'svelte',
  swift: 'swift',
  terraform: 'tf tfvars hcl',
  toml: 'toml',
  typescript: 'ts mts cts',
  tsx: 'tsx',
  vue: 'vue',
  xml: 'xml xsd xsl svg plist csproj',
  yaml: 'yaml yml',
  zig: 'zig',
};

const BY_EXTENSION: ReadonlyMap<string, string> = new Map(
  Object.entries(EXTENSIONS).flatMap(([language, extensions]) =>
    extensions.split(' ').map((extension) => [extension, language]),
  ),
);

/** Files whose whole name says it, in lower case. */
const BY_NAME: ReadonlyMap<string, string> = new Map([
  ['.bashrc', 'bash'],
  ['.dockerignore', 'ignore'],
  ['.editorconfig', 'ini'],
  ['.env', 'dotenv'],
  ['.gitignore', 'ignore'],
  ['.profile', 'bash'],
  ['.zshrc', 'bash'],
  ['cargo.lock', 'toml'],
  ['cmakelists.txt', 'cmake'],
  ['dockerfile', 'dockerfile'],
  ['gemfile', 'ruby'],
  ['go.mod', 'go.mod'],
  ['jenkinsfile', 'groovy'],
  ['makefile', 'makefile'],
  ['package-lock.json', 'json'],
  ['rakefile', 'ruby'],
  ['tsconfig.json', 'jsonc'],
]);
