/** Reads a model's arguments as they are meant, where nothing is lost by it. All else stays, for the schema to refuse. */

import { isObject, parseJson } from '../text/json.ts';
import { JSON_LIMITS } from '../text/limits.ts';
import type { Metadata } from '../wire/documents.ts';

/** The arguments as their JSON Schema has them: numbers, lists and objects given as text; no optional nulls. */
export function toMeant(value: unknown, schema: unknown): unknown {
  if (!isObject(schema)) return value;
  const meant = typeOfText(value, schema);
  const { items, properties, required } = schema;
  if (Array.isArray(meant)) return meant.map((each) => toMeant(each, items));
  if (!isObject(meant) || !isObject(properties)) return meant;
  const isNeeded = (name: string) => Array.isArray(required) && required.includes(name);
  // Not by assignment: an argument named `__proto__` would set the object's prototype.
  return Object.fromEntries(
    Object.entries(meant).flatMap(([name, each]) => {
      const wanted = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const type = isObject(wanted) ? wanted['type'] : undefined;
      if (each === null && typeof type === 'string' && type !== 'null' && !isNeeded(name))
        return [];
      const isIdNumber = name === 'id' && type === 'string' && Number.isSafeInteger(each);
      return [[name, isIdNumber ? String(each) : toMeant(each, wanted)]];
    }),
  );
}

/** The names of what `kept` leaves out of `given`, without their places in lists. */
export function leftOut(given: unknown, kept: unknown): string[] {
  if (Array.isArray(given) && Array.isArray(kept)) {
    return given.flatMap((each, index) => leftOut(each, kept[index]));
  }
  if (!isObject(given) || !isObject(kept)) return [];
  return Object.entries(given).flatMap(([name, each]) =>
    Object.hasOwn(kept, name) ? leftOut(each, kept[name]).map((inner) => `${name}.${inner}`) : name,
  );
}

function typeOfText(value: unknown, { type, items }: Metadata): unknown {
  const said = typeof value === 'string' ? valueIn(value, type) : value;
  if (type !== 'array' || Array.isArray(said)) return said;
  const isItem = isObject(said) || (typeof said === 'string' && /^[^\s[{]/.test(said));
  return isItem && isObject(items) && items['type'] === (isObject(said) ? 'object' : 'string')
    ? [said]
    : said;
}

/** The value that the text says, if it is of the type and the text says nothing more. */
function valueIn(text: string, type: unknown): unknown {
  switch (type) {
    case 'boolean':
      return /^(true|false)$/i.test(text) ? /^t/i.test(text) : text;
    case 'integer':
    case 'number': {
      const said = Number(text);
      return Number.isFinite(said) && String(said) === text.trim() ? said : text;
    }
    case 'array':
    case 'object': {
      const said = parsed(text);
      return (type === 'array' ? Array.isArray(said) : isObject(said)) ? said : text;
    }
    default:
      return text;
  }
}

/** Undefined for what is not JSON, and for what cannot be sent on: lone surrogates, and what nests too deeply. */
function parsed(text: string): unknown {
  try {
    const value = parseJson(text, JSON_LIMITS.inText);
    return /\\ud[89a-f]/i.test(JSON.stringify(value)) ? undefined : value;
  } catch {
    return undefined;
  }
}
