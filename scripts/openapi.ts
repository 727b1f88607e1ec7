/** Writes openapi/openapi.json from the route schemas. Run it after a route changed; a test fails when it drifts. */
import { writeFile } from 'node:fs/promises';
import packageJson from '../package.json' with { type: 'json' };
import { openapiDocument } from '../src/routes/docs.ts';

const target = new URL('../openapi/openapi.json', import.meta.url);
await writeFile(target, `${JSON.stringify(await openapiDocument(packageJson.version), null, 2)}\n`);
