/** The web sites that a person has allowed for a conversation. They are forgotten when the bridge ends. */
export class AllowedSites {
  readonly #known = new Set<string>();

  /** `site` is a host with its port. The oldest are forgotten when there are too many. */
  allow(conversationId: string, site: string): void {
    this.#known.add(keyOf(conversationId, site));
    const [oldest] = this.#known;
    if (oldest !== undefined && this.#known.size > MAX_SITES) this.#known.delete(oldest);
  }

  has(conversationId: string, site: string): boolean {
    return this.#known.has(keyOf(conversationId, site));
  }
}

/** Far more than people allow while a bridge runs. */
const MAX_SITES = 5_000;

/** No host has a blank. */
function keyOf(conversationId: string, site: string): string {
  return `${conversationId} ${site}`;
}
