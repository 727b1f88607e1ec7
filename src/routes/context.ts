import type { Metrics } from '../sessions/metrics.ts';
import type { Service } from '../sessions/service.ts';
import type { AnyOperation, Capability, RequestFacts, ServiceContext } from './define.ts';
import { fullInput } from './invoke.ts';
import { prepareStep } from './steps.ts';

/** What handlers find of the service and of their request. */
export function contextOf(
  parts: { service: Service; metrics: Metrics },
  all: readonly AnyOperation[],
  request: RequestFacts,
): ServiceContext {
  const context: ServiceContext = {
    ...parts,
    request,
    capabilities: () => all.map(capability),
    prepareStep: (session, step, pointer) => prepareStep(all, context, session, step, pointer),
  };
  return context;
}

function capability(operation: AnyOperation): Capability {
  const { name, method, path, summary, scope, result } = operation;
  return { name, method, path, summary, scope, request: fullInput(operation), response: result };
}
