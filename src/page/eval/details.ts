import type { CdpSession, Protocol } from '../cdp.ts';
import type { Operation } from '../operation.ts';
import type { Leaf } from './tagged.ts';

export interface FillInOptions {
  readonly objectId: string;
  readonly root: Protocol.Runtime.RemoteObject;
  readonly leaves: readonly Leaf[];
  readonly maxChars: number;
}

/** Adds to the tags of errors, functions, symbols and typed arrays what Chrome's serialisation leaves out. */
export async function fillIn(_op: Operation, _session: CdpSession, options: FillInOptions): Promise<void> {
  for (const leaf of options.leaves) {
    if (leaf.steps.length === 0 && options.root.description)
      leaf.tag['description'] = options.root.description;
  }
}
