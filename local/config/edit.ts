/** Changes single settings in the text of config.json, and leaves all else as it is: order, indentation, `$schema`. */
import { LocalError } from '../../machine/local-error.ts';
import { formatPath } from '../../shared/errors.ts';
import { findJsonMistake } from './json-error.ts';
import { fieldsAt, isListAt, SCHEMA_FILE } from './json-schema.ts';
import { describeProblem, describeUnknown } from './problems.ts';
import { Config } from './schema.ts';

/** `['models', 0, 'id']` for `models.0.id` and `models[0].id`. */
export type SettingPath = readonly (string | number)[];

/** @throws {LocalError} if there is no such setting. */
export function parseSettingPath(text: string): SettingPath {
  const path: (string | number)[] = [];
  for (const word of text.replaceAll(/\[(\d+)\]/g, '.$1').split('.')) {
    const known = fieldsAt(path);
    if (isListAt(path) && !/^\d+$/.test(word)) {
      const list = formatPath(path);
      const text = `${list} is a list: name one of its entries by its number, such as ${list}.0.`;
      throw new LocalError('refused', text);
    }
    if (/^\d+$/.test(word) && known.length === 0) path.push(Number(word));
    else if (known.length > 0 && !known.includes(word)) {
      throw new LocalError('refused', describeUnknown(path, word));
    } else path.push(word);
  }
  return path;
}

/**
 * The value that a person typed: JSON where that is right for the setting, else the text itself.
 * @throws {LocalError} if neither is right.
 */
export function withTypedSetting(
  text: string | undefined,
  path: SettingPath,
  typed: string,
): string {
  const asJson = findJsonMistake(typed) ? [] : [JSON.parse(typed) as unknown];
  const texts = [...asJson, typed].map((value) => withSetting(text, path, value));
  const right = texts.find((candidate) => Config.safeParse(JSON.parse(candidate)).success);
  if (right !== undefined) return right;
  const { error } = Config.safeParse(JSON.parse(texts[0] ?? '{}'));
  throw new LocalError('refused', error ? describeProblem(error) : 'The value is not right.');
}

/** The text with the setting. Links the schema where the text does not. */
export function withSetting(text: string | undefined, path: SettingPath, value: unknown): string {
  const config = linked(toObject(text));
  put(holderOf(config, path.slice(0, -1)), path, value);
  return toText(config, text);
}

/** Sets what the last word of the path names in its holder. @throws {LocalError} where nothing of it would be written. */
function put(holder: object, path: SettingPath, value: unknown): void {
  const last = path.at(-1) ?? '';
  if (Array.isArray(holder) && !(Number(last) <= holder.length)) {
    const list = formatPath(path.slice(0, -1));
    const text = `${list} has ${holder.length} entries: the next one is ${list}.${holder.length}.`;
    throw new LocalError('refused', text);
  }
  // Not by assignment: a key named `__proto__` would set the object's prototype.
  Object.defineProperty(holder, last, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** The text without the setting. @throws {LocalError} if the rest is not right without it. */
export function withoutSetting(text: string | undefined, path: SettingPath): string {
  const config = linked(toObject(text));
  const holder = holderOf(config, path.slice(0, -1));
  const last = path.at(-1) ?? '';
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else Reflect.deleteProperty(holder, last);
  const parsed = Config.safeParse(config);
  if (!parsed.success) throw new LocalError('refused', describeProblem(parsed.error));
  return toText(config, text);
}

/** The text with the link to the schema, for a text that a person has written. */
export function withSchemaLink(text: string): string {
  const config = toObject(text);
  return '$schema' in config ? text : toText(linked(config), text);
}

function linked(config: object): object {
  return '$schema' in config ? config : { $schema: `./${SCHEMA_FILE}`, ...config };
}

/** The text has been parsed before: it is an object. */
function toObject(text = '{}'): object {
  return JSON.parse(text);
}

function toText(config: object, old = ''): string {
  const indent = /^([ \t]+)"/m.exec(old)?.[1] ?? '  ';
  return `${JSON.stringify(config, null, indent)}\n`;
}

/** The object or list at a path, made where it is missing. */
function holderOf(config: object, path: SettingPath): object {
  let holder = config;
  for (const [index, key] of path.entries()) {
    const inner: unknown = Reflect.get(holder, key);
    const next = typeof inner === 'object' && inner !== null ? inner : emptyAt(path, index + 1);
    put(holder, path.slice(0, index + 1), next);
    holder = next;
  }
  return holder;
}

function emptyAt(path: SettingPath, depth: number): object {
  return typeof path[depth] === 'number' ? [] : {};
}
