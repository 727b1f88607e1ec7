import type { Protocol } from 'devtools-protocol';

/** A closed root may hold hosts of more: how often to look again. */
export const CLOSED_ROOT_PASSES = 4;

/** The part of a CDP session that this needs. */
export interface CdpSender {
  send(
    method: 'Runtime.evaluate',
    params: Protocol.Runtime.EvaluateRequest,
  ): Promise<Protocol.Runtime.EvaluateResponse>;
  send(
    method: 'Runtime.getProperties',
    params: Protocol.Runtime.GetPropertiesRequest,
  ): Promise<Protocol.Runtime.GetPropertiesResponse>;
  send(
    method: 'Runtime.callFunctionOn',
    params: Protocol.Runtime.CallFunctionOnRequest,
  ): Promise<Protocol.Runtime.CallFunctionOnResponse>;
  send(
    method: 'Runtime.releaseObjectGroup',
    params: Protocol.Runtime.ReleaseObjectGroupRequest,
  ): Promise<void>;
  send(
    method: 'DOM.describeNode',
    params: Protocol.DOM.DescribeNodeRequest,
  ): Promise<Protocol.DOM.DescribeNodeResponse>;
  send(
    method: 'DOM.resolveNode',
    params: Protocol.DOM.ResolveNodeRequest,
  ): Promise<Protocol.DOM.ResolveNodeResponse>;
}

const objectGroup = 'airlock-closed-roots';

/**
 * Hands the closed shadow roots of a frame over to its isolated world, where script cannot reach them by itself. Asks
 * about the elements that the injected code names, a few for each kind. Needs `injectedSource()` evaluated before.
 * @returns how many roots were handed over; when it is not 0, walk again: more hosts may be inside
 */
export async function adoptClosedRoots(cdp: CdpSender, contextId: number): Promise<number> {
  try {
    const list = await cdp.send('Runtime.evaluate', {
      expression: 'airlock.closedHosts()',
      contextId,
      objectGroup,
    });
    const arrayId = list.result.objectId;
    if (arrayId === undefined) return 0;
    const { result } = await cdp.send('Runtime.getProperties', { objectId: arrayId, ownProperties: true });
    const hosts = result.filter(({ name }) => /^\d+$/.test(name)).map(({ value }) => value?.objectId ?? '');
    if (hosts.length === 0) return 0;
    const roots = await Promise.all(hosts.map((objectId) => closedRoot(cdp, objectId, contextId)));
    await cdp.send('Runtime.callFunctionOn', {
      executionContextId: contextId,
      functionDeclaration:
        '(...all) => { for (let i = 0; i < all.length; i += 2) airlock.adoptRoot(all[i], all[i + 1]); }',
      arguments: hosts.flatMap((objectId, index) => {
        const root = roots[index];
        return [{ objectId }, root === undefined ? { value: null } : { objectId: root }];
      }),
    });
    return roots.filter((root) => root !== undefined).length;
  } finally {
    await cdp.send('Runtime.releaseObjectGroup', { objectGroup });
  }
}

/** The closed root of one host as an object of the isolated world. */
async function closedRoot(cdp: CdpSender, objectId: string, contextId: number): Promise<string | undefined> {
  const { node } = await cdp.send('DOM.describeNode', { objectId, depth: 0 });
  const root = node.shadowRoots?.find(({ shadowRootType }) => shadowRootType === 'closed');
  if (root === undefined) return undefined;
  const { backendNodeId } = root;
  const resolved = await cdp.send('DOM.resolveNode', {
    backendNodeId,
    executionContextId: contextId,
    objectGroup,
  });
  return resolved.object.objectId;
}
