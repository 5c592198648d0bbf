/** Writes docs/config.schema.json: `npm run schema`. */
import { writeFileSync } from 'node:fs';
import { configSchemaText } from './json-schema.ts';

writeFileSync(new URL('../../docs/config.schema.json', import.meta.url), configSchemaText());
