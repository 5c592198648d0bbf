/** The schemas that have a name in `/openapi.json`. A name stands below its schema: `named.add(Agent, { id: 'Agent' })`. */
import * as z from 'zod';

/** No two schemas may have the same name. Apart from zod's own registry, whose names show in tools' definitions. */
export const named = z.registry<{ id: string }>();
