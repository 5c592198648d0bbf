/** Names the permission that a browser may want before a page reaches the machine it runs on, or its network. */

/** What to add to the error of a page that has not reached `url`, a server of another origin. Empty for public addresses. */
export function localNetworkHint(url: string): string {
  return URL.canParse(url) && LOCAL.test(new URL(url).hostname)
    ? ', or this page lacks the browser’s permission “Local Network Access”'
    : '';
}

/** Hosts of loopback, of private networks and of the own link. `URL` has written each address in its one form. */
const LOCAL =
  /^(?:(?:.+\.)?localhost|.+\.local|(?:127|10|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))\.[\d.]+|\[(?:::1|f[cd].*|fe[89ab].*)\])$/;
