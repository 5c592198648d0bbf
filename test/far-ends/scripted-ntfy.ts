/** A server of ntfy as docs.ntfy.sh/publish describes it ("Publish as JSON", "Authentication"). No network of its own. */
import * as z from 'zod';

/** The server knows one token. Topics with this beginning need it; all others are open, as on ntfy.sh. */
export const NTFY_TOKEN = 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2';
const RESERVED = 'reserved-';

const Published = z.strictObject({
  topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/),
  title: z.string(),
  message: z.string(),
  priority: z.int().min(1).max(5),
  tags: z.array(z.string()),
  click: z.url(),
});
export type Published = z.infer<typeof Published>;

export interface NtfyRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface ScriptedNtfy {
  readonly published: readonly Published[];
  /** Takes a request, and returns the status of its answer. */
  take(request: NtfyRequest): number;
}

export function scriptNtfy(): ScriptedNtfy {
  const published: Published[] = [];
  return {
    published,
    take({ method, url, authorization, body }) {
      if (method !== 'POST' || new URL(url).pathname !== '/') return 404;
      if (authorization !== undefined && authorization !== `Bearer ${NTFY_TOKEN}`) return 401;
      const message = Published.parse(JSON.parse(body));
      if (message.topic.startsWith(RESERVED) && authorization === undefined) return 403;
      published.push(message);
      return 200;
    },
  };
}
