/**
 * The package registries that a command with the permission `network` reaches where it names no host. Each host serves
 * packages to everyone, and its name belongs to the registry, so the name may lead to any address: companies mirror
 * registries inside their networks. Maven Central is not among them, because Java reads no proxy from its environment.
 */
export const REGISTRIES: readonly string[] = [
  // npm, pnpm and Yarn; Yarn 1 asks its own name for the same packages.
  'registry.npmjs.org',
  'registry.yarnpkg.com',
  // pip, uv and Poetry: the index, and the files that it names.
  'pypi.org',
  'files.pythonhosted.org',
  // Cargo: the index, and the crates.
  'index.crates.io',
  'static.crates.io',
  // Go: the modules, and the log that their sums are checked by.
  'proxy.golang.org',
  'sum.golang.org',
  // RubyGems: the gems, and the index that Bundler reads.
  'rubygems.org',
  'index.rubygems.org',
];

/** Whether the host, in lower case, is one of a registry. */
export function isRegistry(host: string): boolean {
  return REGISTRIES.includes(host);
}

/** Hosts for people, the registries as one word where all of them are there: `package registries, example.com`. */
export function hostWords(hosts: readonly string[]): string {
  if (!REGISTRIES.every((host) => hosts.includes(host))) return hosts.join(', ');
  return ['package registries', ...hosts.filter((host) => !isRegistry(host))].join(', ');
}
