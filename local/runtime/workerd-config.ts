/** The configuration of workerd, in its own language (node_modules/workerd/workerd.capnp). */
import type { WranglerConfig } from './wrangler-config.ts';

/** The names that workerd's command line refers to: see local/runtime/runtime.ts. */
export const CONFIG = { constant: 'config', socket: 'http', storage: 'storage' } as const;

/**
 * The text of the configuration. It holds no secret and no path: variables come from the environment of the process,
 * the address and the folder from its command line, the module lies beside it.
 */
export function workerdConfig(
  wrangler: WranglerConfig,
  moduleFile: string,
  variables: readonly string[],
): string {
  const objects = wrangler.durableObjects;
  return `using Workerd = import "/workerd/workerd.capnp";

const ${CONFIG.constant} :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "${CONFIG.storage}", disk = (writable = true)),
    # Private addresses too: the model may run on this machine or in this network.
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "${CONFIG.socket}", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed ${JSON.stringify(moduleFile)})],
  compatibilityDate = ${JSON.stringify(wrangler.compatibilityDate)},
  compatibilityFlags = ${JSON.stringify(wrangler.compatibilityFlags)},
  globalOutbound = "internet",
  durableObjectStorage = (localDisk = "${CONFIG.storage}"),
  durableObjectNamespaces = [
${lines(objects.map(({ className }) => namespaceOf(className)))}
  ],
  bindings = [
${lines([
  ...objects.map(
    ({ binding, className }) => `(name = "${binding}", durableObjectNamespace = "${className}")`,
  ),
  ...variables.map((name) => `(name = "${name}", fromEnvironment = "${name}")`),
])}
  ],
);
`;
}

/** Names the folder of a class's objects within the storage, and enters their ids: to change it is to lose them. */
export function uniqueKeyOf(className: string): string {
  return `drawbridge-${className}`;
}

function namespaceOf(className: string): string {
  return `(className = "${className}", uniqueKey = "${uniqueKeyOf(className)}", enableSql = true)`;
}

function lines(entries: readonly string[]): string {
  return entries.map((entry) => `    ${entry},`).join('\n');
}
