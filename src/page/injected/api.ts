/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { Hosts } from './hosts.ts';
import type { Names } from './names.ts';
import type { Queries } from './query.ts';
import type { Refs } from './refs.ts';
import type { Rests } from './rests.ts';
import type { Sheets } from './sheets.ts';
import type { States } from './states.ts';
import type { Styles } from './style.ts';
import type { TextRules } from './text.ts';
import type { FrameText, InjectedApi, QueryError, WalkOptions } from './types.ts';
import type { Walker } from './walk.ts';

/** The object that the service calls. Injected by its text. */
export function installApi({
  dom,
  styles,
  sheets,
  text,
  names,
  states,
  refs,
  rests,
  hosts,
  walk,
  queries,
}: {
  dom: Dom;
  styles: Styles;
  sheets: Sheets;
  text: TextRules;
  names: Names;
  states: States;
  refs: Refs;
  rests: Rests;
  hosts: Hosts;
  walk: Walker;
  queries: Queries;
}): InjectedApi {
  function rootOf(options: WalkOptions): Element | QueryError {
    if (options.root === undefined) {
      return (
        styles.modal() ?? dom.rootElement(document) ?? { kind: 'not_found', message: 'the document is empty' }
      );
    }
    if ('ref' in options.root) {
      const { status, node } = refs.resolve(options.root.ref);
      if (status === 'live' && node !== null) return node;
      return {
        kind: status === 'unknown' ? 'unknown' : 'stale',
        message: `e${options.root.ref} is not in the document`,
      };
    }
    const found = queries.select({ selector: options.root.selector });
    if (!Array.isArray(found)) return found;
    return found[0] ?? { kind: 'not_found', message: `nothing matches ${options.root.selector}` };
  }

  function snapshot(options: WalkOptions): FrameText {
    refs.begin(options.nextRef, true);
    names.reset();
    const root = rootOf(options);
    const about = { closedHosts: 0, url: location.href, title: text.clean(dom.titleOf(document)) };
    if (!('nodeType' in root))
      return { text: '', frames: [], nextRef: refs.nextRef(), ...about, error: root };
    const { lines, hosts: closedHosts } = quickly(() => walk.walk(root, options));
    if (options.viewport === true) lines.keep(lines.SEEN);
    if (options.interactive === true) lines.keep(lines.ACT);
    const finished = lines.finish(options);
    rests.lookAhead(refs.takeGiven());
    return { ...finished, nextRef: refs.nextRef(), ...about, closedHosts };
  }

  /** Runs what looks at many elements while the document cannot change. */
  function quickly<T>(work: () => T): T {
    sheets.begin();
    try {
      return work();
    } finally {
      sheets.end();
    }
  }

  return {
    snapshot,
    resolve: refs.resolve,
    node: (ref) => {
      const { status, node } = refs.resolve(ref);
      return status === 'live' ? node : null;
    },
    refOf: (node, nextRef) => {
      refs.begin(nextRef);
      return [refs.give(node), refs.nextRef()];
    },
    describe: (node) => {
      names.reset();
      return queries.describe(node);
    },
    query: (target, nextRef) => quickly(() => queries.query(target, nextRef)),
    restedFor: rests.restedFor,
    markSecret: states.markSecret,
    closedHosts: () => hosts.list(dom.roots()),
    adoptRoot: hosts.adopt,
  };
}
