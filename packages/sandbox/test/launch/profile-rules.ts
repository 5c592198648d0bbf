/** Reads a profile of Seatbelt: of the rules that match, the last one counts. */

export type Verdict = 'allow' | 'deny';

/** What a process does, and to what: a path, or the name of a service. */
export type Decide = (operation: string, object?: string, kind?: 'ip' | 'unix-socket') => Verdict;

/** Throws for a filter that it does not know. */
export function decisionsOf(profile: string): Decide {
  const rules = parse(profile).filter(([head]) => head === 'allow' || head === 'deny');
  return (operation, object = '', kind = 'ip') => {
    const names = (part: Part) =>
      typeof part === 'string' &&
      (part.endsWith('*') ? operation.startsWith(part.slice(0, -1)) : operation === part);
    const matching = rules.filter(([, ...parts]) => {
      const filters = parts.filter((part) => Array.isArray(part) && part[0] !== 'with');
      const isMeant = parts.some(names) || parts.includes('default');
      return isMeant && (filters.length === 0 || filters.some((each) => holds(each, object, kind)));
    });
    return matching.at(-1)?.[0] === 'allow' ? 'allow' : 'deny';
  };
}

type Part = string | Part[];

function holds(filter: Part, object: string, kind: string): boolean {
  const [name, ...given] = Array.isArray(filter) ? filter : [];
  const [value = ''] = given;
  const inner = () => given.map((each) => holds(each, object, kind));
  switch (name) {
    case 'subpath':
      return object === value || object.startsWith(`${value}/`);
    case 'literal':
    case 'global-name':
      return object === value;
    case 'regex':
      return new RegExp(String(value)).test(object);
    case 'require-all':
      return inner().every(Boolean);
    case 'require-not':
      return !inner()[0];
    // All objects of the tests are files.
    case 'vnode-type':
      return false;
    case 'remote':
    case 'local':
      return value === 'unix-socket' || (Array.isArray(value) && value[0] === 'unix-socket')
        ? kind === 'unix-socket' && inner().every((is) => is)
        : kind === 'ip';
    case undefined:
      return true; // `unix-socket` without a path
    case 'unix-socket':
      return inner().every(Boolean);
    default:
      return OF_OTHER_OBJECTS.has(String(name)) ? false : unknown(String(name));
  }
}

function unknown(name: string): never {
  throw new Error(`A filter of profiles that the test does not know: ${name}`);
}

const OF_OTHER_OBJECTS: ReadonlySet<string> = new Set([
  ...['sysctl-name', 'sysctl-name-prefix', 'socket-domain', 'socket-protocol', 'target'],
  ...['iokit-registry-entry-class', 'iokit-user-client-class'],
]);

function parse(text: string): Part[][] {
  const lists: Part[][] = [[]];
  for (const [token] of text.matchAll(/;[^\n]*|"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+/g)) {
    const inner = lists.at(-1) ?? [];
    if (token.startsWith(';')) continue;
    if (token === '(') lists.push([]);
    else if (token === ')') {
      lists.pop();
      lists.at(-1)?.push(inner);
    } else inner.push(token.startsWith('"') ? JSON.parse(token) : token);
  }
  return (lists[0] ?? []).filter((part) => Array.isArray(part));
}
