import { actingOperations } from './acting.ts';
import { batchOperations } from './batch.ts';
import type { AnyOperation } from './define.ts';
import { eventOperations } from './events.ts';
import { fileOperations } from './files.ts';
import { heapOperations } from './heap.ts';
import { navigationOperations } from './navigation.ts';
import { policyOperations } from './policy.ts';
import { readingOperations } from './reading.ts';
import { serviceOperations } from './service.ts';
import { sessionOperations } from './sessions.ts';
import { stateOperations } from './state.ts';
import { tabOperations } from './tabs.ts';
import { waitingOperations } from './waiting.ts';

/** Every operation of the service: the one list that routes, OpenAPI, capabilities and batch read. */
export const operations: readonly AnyOperation[] = [
  ...serviceOperations,
  ...sessionOperations,
  ...eventOperations,
  ...policyOperations,
  ...tabOperations,
  ...navigationOperations,
  ...readingOperations,
  ...actingOperations,
  ...waitingOperations,
  ...batchOperations,
  ...stateOperations,
  ...fileOperations,
  ...heapOperations,
];
