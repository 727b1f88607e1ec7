import { Type } from 'typebox';
import { AirlockError, allAdvice, errorCodes, errorTable, type Suggestion } from '../errors.ts';
import { diagnose } from '../sessions/doctor.ts';
import { Bytes, defineOperation, Reply } from './define.ts';
import { nearest } from './nearest.ts';

const livez = defineOperation({
  name: 'livez',
  method: 'GET',
  path: '/livez',
  summary: 'Whether the service answers at all',
  tag: 'service',
  scope: 'service',
  open: true,
  input: Type.Object({}),
  result: Type.Object({ live: Type.Literal(true) }),
  async run() {
    return { live: true as const };
  },
});

const readyz = defineOperation({
  name: 'readyz',
  method: 'GET',
  path: '/readyz',
  summary: 'Whether a session can be created now; 503 while it cannot',
  tag: 'service',
  scope: 'service',
  open: true,
  input: Type.Object({}),
  result: Type.Object({ ready: Type.Boolean(), reasons: Type.Array(Type.String()) }),
  async run({ service }) {
    const reasons = service.notReady();
    return new Reply({ ready: reasons.length === 0, reasons }, { status: reasons.length === 0 ? 200 : 503 });
  },
});

const version = defineOperation({
  name: 'version',
  method: 'GET',
  path: '/v1/version',
  summary: 'Versions of the service, the protocol and the browsers',
  tag: 'service',
  scope: 'service',
  input: Type.Object({}),
  result: Type.Object({
    service: Type.String(),
    api: Type.Literal('v1'),
    node: Type.String(),
    browsers: Type.Array(
      Type.Object({ engine: Type.String(), path: Type.String(), version: Type.Optional(Type.String()) }),
    ),
  }),
  async run({ service }) {
    return {
      service: service.options.version,
      api: 'v1' as const,
      node: process.version,
      browsers: await service.browsers.list(),
    };
  },
});

const capabilities = defineOperation({
  name: 'capabilities',
  method: 'GET',
  path: '/v1/capabilities',
  summary: 'Every operation: name, method, path, one line, request and response schema',
  tag: 'service',
  scope: 'service',
  input: Type.Object({
    name: Type.Optional(Type.String({ description: 'only this operation' })),
    schemas: Type.Optional(Type.Boolean({ default: true, description: 'false leaves the schemas out' })),
  }),
  result: Type.Object({ operations: Type.Array(Type.Record(Type.String(), Type.Unknown())) }),
  async run({ capabilities: list }, { name, schemas }) {
    const found = list().filter((operation) => name === undefined || operation.name === name);
    if (found.length === 0)
      throw unknownOperation(
        name ?? '',
        list().map((one) => one.name),
      );
    return {
      operations: found.map(({ request, response, ...line }) =>
        schemas === false ? line : { ...line, request, response },
      ),
    };
  },
});

function unknownOperation(name: string, names: readonly string[]): AirlockError {
  const near = nearest(name, names);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  return new AirlockError('not_found', `There is no operation ${JSON.stringify(name)}${hint}`);
}

const doctor = defineOperation({
  name: 'doctor',
  method: 'GET',
  path: '/v1/doctor',
  summary: 'Checks what sessions need of this machine, each with its fix; `?launch=1` starts a Chrome too',
  tag: 'service',
  scope: 'service',
  input: Type.Object({
    launch: Type.Optional(Type.Boolean({ description: 'start and close one Chrome as a check' })),
  }),
  result: Type.Object({
    status: Type.Enum(['pass', 'warn', 'fail']),
    checks: Type.Array(
      Type.Object({
        name: Type.String(),
        status: Type.Enum(['pass', 'warn', 'fail']),
        found: Type.String(),
        fix: Type.Optional(Type.String()),
      }),
    ),
    residual: Type.Unknown({ description: 'what is left of ended sessions: docs/residual.md' }),
  }),
  async run({ service }, { launch }) {
    const checks = await diagnose(service, launch === true);
    const residual = await service.sweeper.report();
    const all = [...checks.map((check) => check.status), residual.status];
    const status = all.includes('fail') ? 'fail' : all.includes('warn') ? 'warn' : 'pass';
    return { status: status as 'pass' | 'warn' | 'fail', checks, residual };
  },
});

const problem = defineOperation({
  name: 'problem',
  method: 'GET',
  path: '/problems/{code}',
  summary: 'A page on an error: what it means and what to do',
  tag: 'service',
  scope: 'service',
  binary: ['text/html'],
  input: Type.Object({ code: Type.String() }),
  result: Type.Unknown(),
  async run(_context, { code }) {
    const known = errorCodes.find((candidate) => candidate === code);
    if (known === undefined) throw new AirlockError('not_found', `There is no error code ${code}`);
    const row = errorTable[known];
    const suggestions = [row.suggestion, ...allAdvice(known)].map(paragraph).join('\n');
    const html = `<!doctype html><meta charset="utf-8"><title>${known}</title>
<h1>${known}</h1><p>${row.title}. HTTP status ${row.status}, ${row.retryable ? 'may succeed later' : 'repeating it does not help'}.</p>
${suggestions}`;
    return new Bytes(Buffer.from(html), 'text/html; charset=utf-8');
  },
});

function paragraph(suggestion: Suggestion): string {
  return `<p>${escapeHtml(suggestion.en)}</p><p lang="pt-BR">${escapeHtml(suggestion['pt-BR'])}</p>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const metrics = defineOperation({
  name: 'metrics',
  method: 'GET',
  path: '/metrics',
  summary: 'Figures for Prometheus',
  tag: 'service',
  scope: 'service',
  binary: ['text/plain'],
  input: Type.Object({}),
  result: Type.Unknown(),
  async run({ metrics: { registry } }) {
    return new Bytes(Buffer.from(await registry.metrics()), registry.contentType);
  },
});

export const serviceOperations = [metrics, livez, readyz, version, capabilities, doctor, problem];
