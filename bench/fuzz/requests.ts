/** Makes requests from the API's description alone: good ones, and ones with one fault. Pure: the seed decides. */
import { encodePart, queryText, unknownPath } from './addresses.ts';
import { type DescribedOperation, type Description, operationsOf, resolve } from './description.ts';
import { faultAt, ODD_TEXTS, SPOILED, withFault } from './faults.ts';
import { Random } from './random.ts';
import { type Sample, sampleOf } from './sample.ts';
import type { Ids, World } from './world.ts';

export interface FuzzRequest {
  /** Null for a method or a path that the document does not have. */
  readonly operation: DescribedOperation | null;
  /** The fault of the request, in a few words. */
  readonly fault: string;
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Sent with this bridge's token instead of a user's token. */
  readonly bridgeId?: string;
  /** Whether the request must succeed. */
  readonly isGood?: boolean;
  /** A second request that must get exactly the same answer. */
  readonly twin?: FuzzRequest;
}

const NO_BODY: Sample = { value: null, places: [{ path: [], schema: {} }] };

/** Makes requests to one API for one sender. */
export class RequestMaker {
  readonly #operations: readonly DescribedOperation[];
  readonly #description: Description;
  readonly #random: Random;
  #made = 0;
  /** Whether the account's default may be private, so that models are refused which an example names. */
  #isPrivate = false;

  constructor(description: Description, random: Random) {
    this.#description = description;
    this.#operations = operationsOf(description);
    this.#random = random;
  }

  /** A request for the next operation, each in turn. */
  next(world: World): FuzzRequest {
    const operation = this.#operations[this.#made++ % this.#operations.length];
    if (!operation) throw new Error('The document has no operations.');
    this.#isPrivate ||= operation.operationId === 'updateMe';
    const random = this.#random;
    const makers: readonly (() => FuzzRequest)[] = [
      () => this.#good(operation, world),
      () => this.#allowed(operation, world.own, 'nothing, as far as the schema says'),
      () => this.#foreign(operation, world),
      () => this.#oddPath(operation, world.own),
      () => this.#oddQuery(operation, world.own),
      () => this.#oddHeaders(operation, world.own),
      () => this.#wrongMethod(operation, world.own),
      () => ({ ...unknownPath(random), operation: null, headers: {} }),
    ];
    const bodied = [
      () => this.#wrongField(operation, world.own),
      () => this.#wrongField(operation, world.own),
      () => this.#wrongField(operation, world.own),
      () => this.#wrongField(operation, world.own),
      () => this.#spoiled(operation, world.own),
      () => this.#spoiled(operation, world.own),
    ];
    return random.pick(operation.requestBody ? [...makers, ...bodied, ...bodied] : makers)();
  }

  /** The document's own example with real ids. The ids are no agent's, and a request alone cannot make a run or
   * message that waits. */
  #good(operation: DescribedOperation, { own, missing }: World): FuzzRequest {
    const isWaiting = isForWhatWaits(operation);
    const example = JSON.stringify(bodyExample(operation));
    const request = this.#request(operation, isWaiting ? missing : own, 'nothing');
    const body = example
      ?.replace(/conv_[0-9a-f-]{36}/g, own.ConversationId)
      .replace(/chat_[0-9a-f-]{36}/g, own.ResponseId);
    // It has no token for the metrics or for the server's apps.
    const isOurs = !operation.security?.some(
      ({ metricsToken, appSecret, bearerAuth }) =>
        metricsToken || appSecret || bearerAuth?.includes('operator'),
    );
    const isRefused = this.#isPrivate && body?.includes('"model":');
    const isGood = isOurs && !isWaiting && !isRefused;
    return { ...request, isGood, ...(body !== undefined && { body }) };
  }

  /** A body, a query and headers that the schemas allow. */
  #allowed(operation: DescribedOperation, ids: Ids, fault: string): FuzzRequest {
    const request = this.#request(operation, ids, fault);
    const path = `${request.path}${queryText(this.#sampled(operation, 'query', ids))}`;
    const headers = { ...request.headers, ...this.#sampled(operation, 'header', ids) };
    const body = this.#body(operation, ids);
    return { ...request, path, headers, ...(body && { body: JSON.stringify(body.value) }) };
  }

  /** The same request with ids of another account, and with ids that no account has. */
  #foreign(operation: DescribedOperation, { foreign, missing }: World): FuzzRequest {
    const seed = this.#random.below(2 ** 32);
    const [request, twin] = [foreign, missing].map((ids) => {
      const maker = new RequestMaker(this.#description, new Random(seed));
      return maker.#allowed(operation, ids, 'ids of another account');
    });
    if (!request || !twin) throw new Error('Two ids, and not two requests.');
    const isSame = request.path === twin.path && request.body === twin.body;
    return isSame ? request : { ...request, twin };
  }

  /** Chooses every field of the body with the same probability, whatever its size. */
  #wrongField(operation: DescribedOperation, ids: Ids): FuzzRequest {
    const random = this.#random;
    const schema = operation.requestBody?.content['application/json']?.schema ?? {};
    const { properties = {} } = resolve(this.#description, schema);
    const wanted = random.pick([...Object.keys(properties), '']);
    const { value, places } = this.#body(operation, ids, wanted) ?? NO_BODY;
    const inField = places.filter(({ path }) => path[0] === wanted);
    const place = random.pick(inField.length > 0 ? inField : places);
    const fault = faultAt(place, valueAt(value, place.path), random);
    const where = `body.${place.path.join('.')}`;
    const request = this.#request(operation, ids, `${where} is ${shown(fault)}`);
    return { ...request, body: JSON.stringify(withFault(value, place.path, fault)) ?? '' };
  }

  #spoiled(operation: DescribedOperation, ids: Ids): FuzzRequest {
    const json = JSON.stringify(this.#body(operation, ids)?.value ?? {});
    const body = this.#random.pick(SPOILED)(json, this.#random);
    const request = this.#request(operation, ids, `the body ${shown(body)}`);
    const types = ['application/json', 'text/plain', 'application/xml', 'multipart/form-data', 'x'];
    return { ...request, headers: { 'content-type': this.#random.pick(types) }, body };
  }

  #oddPath(operation: DescribedOperation, ids: Ids): FuzzRequest {
    const odd = this.#random.pick(ODD_TEXTS.filter((text) => text !== ''));
    const request = this.#request(operation, ids, `the path holds ${shown(odd)}`);
    const filled = operation.path.replace(/\{\w+\}/g, () => encodePart(odd));
    if (filled !== operation.path) return { ...request, path: filled };
    return { ...request, operation: null, path: `${filled}/${encodePart(odd)}` };
  }

  #oddQuery(operation: DescribedOperation, ids: Ids): FuzzRequest {
    const query = this.#sampled(operation, 'query', ids);
    const names = [...Object.keys(query), 'ticket', 'unknown', '__proto__', 'constructor', 'a[b]'];
    const [name, odd] = [this.#random.pick(names), this.#random.pick([...ODD_TEXTS, '-1', '1.5'])];
    const request = this.#request(operation, ids, `the query ${name} is ${shown(odd)}`);
    const twice = this.#random.chance(0.2) ? `&${name}=1` : '';
    return { ...request, path: `${request.path}?${name}=${encodePart(odd)}${twice}` };
  }

  #oddHeaders(operation: DescribedOperation, ids: Ids): FuzzRequest {
    const documented = (operation.parameters ?? []).filter((one) => one.in === 'header');
    const names = [
      ...documented.flatMap(({ name }) => [name, name, name]),
      'accept',
      'authorization',
      'content-type',
      'origin',
      'upgrade',
      'range',
      'if-match',
    ];
    const values = ['', 'a b', '-1', '99999999999999999999', 'x'.repeat(3_000), 'Bearer a.b.c'];
    const [name, value] = [this.#random.pick(names), this.#random.pick(values)];
    const request = this.#request(operation, ids, `the header ${name} is ${shown(value)}`);
    return { ...request, headers: { [name]: value } };
  }

  #wrongMethod(operation: DescribedOperation, ids: Ids): FuzzRequest {
    const known = this.#operations.filter(({ path }) => path === operation.path);
    const methods = ['PUT', 'PATCH', 'DELETE', 'POST', 'HEAD', 'OPTIONS', 'PROPFIND'].filter(
      (method) => known.every((one) => one.method !== method),
    );
    const method = this.#random.pick(methods);
    const request = this.#request(operation, ids, `the method ${method}`);
    return { ...request, operation: null, method };
  }

  #request(operation: DescribedOperation, ids: Ids, fault: string): FuzzRequest {
    const { method } = operation;
    const parameters = this.#sampled(operation, 'path', ids);
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name) =>
      // An empty one would be the path of another operation.
      encodePart(parameters[name] || name),
    );
    const isForBridge = operation.security?.some(({ bearerAuth }) =>
      bearerAuth?.includes('bridge'),
    );
    const asBridge = isForBridge && { bridgeId: ids.BridgeId };
    return { operation, fault, method, path, headers: {}, ...asBridge };
  }

  /**
   * A body that the schema allows. Schemas cannot express every rule, for example that a user's message comes last, so
   * some members of the document's example replace sampled ones.
   */
  #body(operation: DescribedOperation, ids: Ids, wanted?: string): Sample | undefined {
    const media = operation.requestBody?.content['application/json'];
    if (!media) return undefined;
    const random = this.#random;
    const options = { random, ids, fullness: random.pick([0, 0.1, 0.5]), wanted };
    const { value, places } = sampleOf(this.#description, media.schema, options);
    if (places[0]?.schema.properties === undefined) return { value, places };
    const members = Object.entries(Object(media.example)).filter(
      ([name]) => name !== wanted && random.chance(0.9),
    );
    return { value: { ...Object(value), ...Object.fromEntries(members) }, places };
  }

  #sampled(
    { parameters = [] }: DescribedOperation,
    place: 'path' | 'query' | 'header',
    ids: Ids,
  ): Record<string, string> {
    const values: Record<string, string> = {};
    for (const { name, in: where, schema } of parameters) {
      if (where !== place || (place !== 'path' && this.#random.chance(0.5))) continue;
      const options = { random: this.#random, ids, fullness: 1 };
      values[name] = String(sampleOf(this.#description, schema, options).value);
    }
    return values;
  }
}

function bodyExample(operation: DescribedOperation): unknown {
  return operation.requestBody?.content['application/json']?.example;
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce((inner: unknown, name) => Object(inner)[name], value);
}

function shown(value: unknown): string {
  const text = value instanceof Uint8Array ? 'bytes' : (JSON.stringify(value) ?? 'left out');
  return text.length > 60 ? `${text.slice(0, 57)}... (${text.length})` : text;
}

/** Needs something that no request of its own can make, such as the session of a person. */
function isForWhatWaits({ operationId, path }: DescribedOperation): boolean {
  return (
    ['editMessage', 'createSession', 'loginByPasskey', 'openUiSocket'].includes(operationId) ||
    ['getPush', 'setPush', 'deletePush'].includes(operationId) ||
    /callId|documentId|(agents|bridges|models)\/\{id\}|logins|sessions\/|invitations\//.test(path)
  );
}
