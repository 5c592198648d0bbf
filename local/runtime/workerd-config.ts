/** Writes the configuration of workerd in Cap'n Proto (schema: node_modules/workerd/workerd.capnp). */
import type { WranglerConfig } from './wrangler-config.ts';

/** Names that workerd's command line refers to: see local/runtime/runtime.ts. */
export const CONFIG = {
  constant: 'config',
  socket: 'http',
  storage: 'storage',
  page: 'page',
} as const;

export interface ConfigOptions {
  /** The scheme of a request's URL is the one in its X-Forwarded-Proto, if it has one. */
  readonly isBehindProxy?: boolean | undefined;
  /** The worker that gets the traces of the other one (worker/tail/), and its variables. */
  readonly exporter?: { readonly moduleFile: string; readonly variables: readonly string[] };
}

/**
 * The text of the configuration. It contains no secret and no path: variables come from the environment of the process,
 * the address and the storage folder from its command line. The modules are in the same folder.
 */
export function workerdConfig(
  wrangler: WranglerConfig,
  moduleFile: string,
  variables: readonly string[],
  { isBehindProxy = false, exporter }: ConfigOptions = {},
): string {
  const objects = wrangler.durableObjects;
  return `using Workerd = import "/workerd/workerd.capnp";

const ${CONFIG.constant} :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
${exporter ? '    (name = "exporter", worker = .exporter),' : ''}
    (name = "${CONFIG.storage}", disk = (writable = true)),
    (name = "${CONFIG.page}", disk = ()),
    # Private addresses too: the model may run on this machine or in this network.
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
    # For addresses that clients choose. Names are resolved before the address is checked.
    (name = "public", network = (allow = ["public"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "${CONFIG.socket}", http = (${isBehindProxy ? FORWARDED : ''}), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed ${JSON.stringify(moduleFile)})],
  compatibilityDate = ${JSON.stringify(wrangler.compatibilityDate)},
  compatibilityFlags = ${JSON.stringify(wrangler.compatibilityFlags)},
  globalOutbound = "internet",
  ${exporter ? 'streamingTails = ["exporter"],' : ''}
  durableObjectStorage = (localDisk = "${CONFIG.storage}"),
  durableObjectNamespaces = [
${lines(objects.map(({ className }) => namespaceOf(className)))}
  ],
  bindings = [
${lines([
  ...objects.map(
    ({ binding, className }) => `(name = "${binding}", durableObjectNamespace = "${className}")`,
  ),
  '(name = "PUBLIC_NETWORK", service = "public")',
  `(name = "PAGE", service = "${CONFIG.page}")`,
  ...variables.map(fromEnvironment),
])}
  ],
);
${exporter ? exporterOf(wrangler, exporter) : ''}`;
}

function exporterOf(
  { compatibilityDate }: WranglerConfig,
  { moduleFile, variables }: NonNullable<ConfigOptions['exporter']>,
): string {
  return `
const exporter :Workerd.Worker = (
  modules = [(name = "exporter.js", esModule = embed ${JSON.stringify(moduleFile)})],
  compatibilityDate = ${JSON.stringify(compatibilityDate)},
  globalOutbound = "internet",
  bindings = [
${lines(variables.map(fromEnvironment))}
  ],
);
`;
}

function fromEnvironment(name: string): string {
  return `(name = "${name}", fromEnvironment = "${name}")`;
}

/** A proxy that does TLS says here how the client came. Without this, the header is one like any other. */
const FORWARDED = 'forwardedProtoHeader = "X-Forwarded-Proto"';

/** Names the folder of a class's objects in the storage, and is part of their ids: a change loses all objects. */
export function uniqueKeyOf(className: string): string {
  return `drawbridge-${className}`;
}

function namespaceOf(className: string): string {
  return `(className = "${className}", uniqueKey = "${uniqueKeyOf(className)}", enableSql = true)`;
}

function lines(entries: readonly string[]): string {
  return entries.map((entry) => `    ${entry},`).join('\n');
}
