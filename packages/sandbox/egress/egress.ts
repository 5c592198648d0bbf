/** The ways out of the sandbox that commands get by name: a proxy for each door, a pass for each command. */
import type { NetworkDoor } from '../launch/door.ts';
import type { HostGrant, Pass } from './pass.ts';
import { HostProxy, type JudgeHost } from './proxy.ts';
import { type Resolver, SYSTEM_RESOLVER } from './reach.ts';

export class Egress {
  readonly #judge: JudgeHost;
  readonly #resolver: Resolver;
  readonly #proxies = new WeakMap<NetworkDoor, HostProxy>();

  constructor(judge: JudgeHost, resolver: Resolver = SYSTEM_RESOLVER) {
    this.#judge = judge;
    this.#resolver = resolver;
  }

  /** Opens hosts to a command that enters the network behind the door. */
  admit(door: NetworkDoor, grant: HostGrant): Pass {
    const surroundings = { judge: this.#judge, resolver: this.#resolver };
    const proxy = this.#proxies.get(door) ?? new HostProxy(door, surroundings);
    this.#proxies.set(door, proxy);
    return proxy.admit(grant);
  }
}

/** The variables by which programs find the proxy. Each name has a program that reads no other. */
export function proxyVariables(
  { port }: Pick<NetworkDoor, 'port'>,
  { token }: Pass,
): Record<string, string> {
  const proxy = `http://drawbridge:${token}@127.0.0.1:${port}`;
  const direct = 'localhost,127.0.0.1,::1';
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    // Yarn from version 2 on, and Node's own fetch from 22.21 and 24 on.
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
    NODE_USE_ENV_PROXY: '1',
  };
}
