import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import Fastify, { type FastifyInstance } from 'fastify';
import { AirlockError } from '../errors.ts';
import { operations } from './operations.ts';
import { Problem } from './problem.ts';
import { registerOperation } from './register.ts';

/** Collects OpenAPI 3.1 from the schemas of the routes that are registered after this. */
export async function addOpenapi(app: FastifyInstance, version: string): Promise<void> {
  app.addSchema(Problem);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Airlock',
        version,
        description:
          'An isolated Chrome for every caller over plain HTTP. Members marked `x-untrusted` carry text or data of a page.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      // Relative: where this document was fetched from.
      servers: [{ url: '/' }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
  });
}

/** `/docs` for people and `/openapi.json` for programs; without a token, to callers of this machine only. */
export async function addPages(app: FastifyInstance): Promise<void> {
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, open: 'loopback' };
    });
    await docs.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
    docs.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  });
}

/** The OpenAPI document of all operations, without a service behind it. */
export async function openapiDocument(version: string): Promise<unknown> {
  const app = Fastify();
  await addOpenapi(app, version);
  const noService = () => {
    throw new AirlockError('internal', 'There is no service here');
  };
  for (const operation of operations) registerOperation(app, noService, operation, operations);
  await app.ready();
  const document = app.swagger();
  await app.close();
  return document;
}
