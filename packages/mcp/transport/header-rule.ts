/** The rule of MCP 2026-07-28 for parameters that a call over HTTP repeats as headers (`x-mcp-header`). */
import { JSON_LIMITS } from '../../../shared/text/limits.ts';

/**
 * What is wrong with the headers that a tool's JSON Schema declares; null where nothing is. A client must leave out
 * such a tool. The SDK applies the rule only in its own `listTools`, which reads all pages at once.
 */
export function faultOfHeaders(inputSchema: unknown): string | null {
  const names = new Set<string>();
  const open: SchemaPlace[] = [
    { node: inputSchema, level: 0, isParameter: false, isReachable: true },
  ];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { node, level, isParameter } = place;
    // Deeper schemas cannot be offered anyway.
    if (typeof node !== 'object' || node === null || level > JSON_LIMITS.maxDepth) continue;
    if (KEY in node) {
      const { [KEY]: header, type } = node as { [KEY]: unknown; type?: unknown };
      if (!isParameter) return `${KEY} stands where no parameter of every call is.`;
      if (typeof header !== 'string' || !TOKEN.test(header))
        return `${KEY} is no name of a header.`;
      if (!SENT_TYPES.has(type)) return `${KEY} is on a value that is no text, integer or boolean.`;
      if (names.has(header.toLowerCase())) return `two parameters have the same ${KEY}.`;
      names.add(header.toLowerCase());
    }
    open.push(...placesIn(place));
  }
  return null;
}

const KEY = 'x-mcp-header';
/** RFC 9110, 5.1. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const SENT_TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

interface SchemaPlace {
  readonly node: unknown;
  readonly level: number;
  /** Whether every call can have a value here. */
  readonly isParameter: boolean;
  /** Whether only `properties` lead here. */
  readonly isReachable: boolean;
}

/** The schemas in a schema. */
function placesIn({ node, level, isReachable }: SchemaPlace): SchemaPlace[] {
  return Object.entries(Object(node)).flatMap(([keyword, value]) => {
    if (PLAIN_VALUES.has(keyword) || typeof value !== 'object' || value === null) return [];
    const isProperties = keyword === 'properties' && isReachable;
    const isMany = Array.isArray(value) || BY_NAME.has(keyword);
    return (isMany ? Object.values(value) : [value]).map((child) => ({
      node: child,
      level: level + 1,
      isParameter: isProperties,
      isReachable: isProperties,
    }));
  });
}

/** Keywords whose value is no schema. */
const PLAIN_VALUES = new Set(['const', 'default', 'enum', 'examples', 'required', 'type', KEY]);
/** Keywords with schemas by names. */
const BY_NAME = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);
