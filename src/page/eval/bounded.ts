/**
 * Runs in the page, on the object that is about to be sent (`this`): gives the object itself where it is within the
 * bounds, else a copy that is cut, with a marker `{[key]: kind, value, total}` at each place. `key` is random, so that
 * the page cannot forge a marker.
 *
 * What is sent is always serialised by Chrome itself, out of the reach of the page. This function runs with the page's
 * built-ins; where a page has bent those, it can only misjudge how large the page's own answer is.
 */
export const BOUNDED = `function (key, maxItems, maxChars, maxDepth, maxNodes, copyOnly) {
  'use strict';
  const root = this;
  // A long string comes inside an object of ours: see wrap.ts.
  let isText = false;
  try { isText = root[key] === 'string'; } catch { /* a proxy */ }
  const tagOf = (x) => { try { const t = x[Symbol.toStringTag]; return typeof t === 'string' ? t : ''; } catch { return '?'; } };
  const isList = (x) => { try { return Array.isArray(x); } catch { return false; } };
  const kindOf = (x) => { try { return typeof x === 'object' && x !== null ? kindOfObject(x) : ''; } catch { return ''; } };
  const kindOfObject = (x) => {
    if (isList(x)) return 'array';
    const tag = tagOf(x);
    if (tag === 'Map' || tag === 'Set') return tag === 'Map' ? 'map' : 'set';
    if (tag === 'NodeList' || tag === 'HTMLCollection') return 'nodes';
    if (tag !== '' && tag !== 'Object') return '';
    if (x instanceof Error || x instanceof Date || x instanceof RegExp) return '';
    return 'object';
  };
  const entriesOf = (x, limit) => {
    const list = [];
    let i = 0;
    try {
      for (const entry of x) {
        if (i >= limit) break;
        list[i++] = entry;
      }
    } catch {
      return null;
    }
    return list;
  };
  // The first objects are kept in a list of our own, which no page can bend; a long list would be slow.
  const registry = () => {
    const first = { __proto__: null };
    const values = { __proto__: null };
    const rest = new WeakMap();
    let count = 0;
    return {
      get(x) {
        for (let i = 0; i < count; i++) if (first[i] === x) return values[i];
        return count < 256 ? undefined : rest.get(x);
      },
      set(x, value) {
        if (count < 256) {
          first[count] = x;
          values[count++] = value;
        } else rest.set(x, value);
      },
    };
  };
  let nodes = 0;
  let chars = 0;
  let nameChars = 0;
  const fits = (x, depth, seen) => {
    if (++nodes > maxNodes) return false;
    if (typeof x === 'string') return (chars += x.length) <= maxChars;
    const kind = kindOf(x);
    if (kind === '') return true;
    if (depth > maxDepth) return false;
    if (seen.get(x)) return true;
    seen.set(x, true);
    if (kind === 'array') {
      if (x.length > maxItems) return false;
      for (let i = 0; i < x.length; i++) if (!fits(x[i], depth + 1, seen)) return false;
      return true;
    }
    if (kind === 'nodes') return x.length <= maxItems && (nodes += x.length) <= maxNodes;
    if (kind === 'map' || kind === 'set') {
      if (x.size > maxItems) return false;
      const list = entriesOf(x, maxItems);
      if (list === null) return true;
      for (let i = 0; i < list.length; i++) {
        const entry = list[i];
        if (kind === 'set' ? !fits(entry, depth + 1, seen) : !fits(entry[0], depth + 1, seen) || !fits(entry[1], depth + 1, seen)) return false;
      }
      return true;
    }
    let members = 0;
    const copy = { __proto__: null, ...x };
    for (const name in copy) {
      nameChars += name.length;
      if (++members > maxItems || nameChars > maxChars || !fits(copy[name], depth + 1, seen)) return false;
    }
    return true;
  };
  try {
    if (!copyOnly && !isText && fits(root, 1, registry())) return root;
  } catch {
    // A getter threw, or a proxy: the copy says where.
  }
  nodes = 0;
  chars = 0;
  nameChars = 0;
  const mark = (kind, value, total) => ({ __proto__: null, [key]: kind, value, total });
  const cutText = (text) => {
    const room = maxChars - chars;
    chars += text.length;
    if (text.length <= room) return text;
    let end = room > 0 ? room : 0;
    const last = end > 0 ? text[end - 1] : '';
    if (last >= '\\ud800' && last <= '\\udbff') end--;
    let part = '';
    for (let i = 0; i < end; i++) part += text[i];
    return mark('string', part, text.length);
  };
  const cut = (x, depth, copies) => {
    if (++nodes > maxNodes) return mark('total');
    if (typeof x === 'string') return cutText(x);
    const kind = kindOf(x);
    if (kind === '') return x;
    if (depth > maxDepth) return mark('depth', kind);
    const known = copies.get(x);
    if (known) return known;
    if (kind === 'nodes' || kind === 'array' || kind === 'map' || kind === 'set') {
      const total = kind === 'nodes' || kind === 'array' ? x.length : x.size;
      const list = kind === 'array' ? x : entriesOf(x, maxItems);
      if (list === null) return x;
      const value = [];
      const copy = mark(kind, value, total);
      copies.set(x, copy);
      const many = list.length < maxItems ? list.length : maxItems;
      for (let i = 0; i < many && nodes <= maxNodes; i++) {
        value[i] = kind === 'map'
          ? [cut(list[i][0], depth + 1, copies), cut(list[i][1], depth + 1, copies)]
          : read(list, i, depth, copies);
      }
      return copy;
    }
    const value = { __proto__: null };
    const copy = mark('object', value, 0);
    copies.set(x, copy);
    let members = 0;
    try {
      for (const name in x) {
        let isOwn = true;
        try { isOwn = Object.prototype.hasOwnProperty.call(x, name); } catch { isOwn = true; }
        if (!isOwn) continue;
        nameChars += name.length;
        if (++members > maxItems || nodes > maxNodes || nameChars > maxChars) continue;
        value[name] = read(x, name, depth, copies);
      }
    } catch {
      return mark('getter');
    }
    copy.total = members;
    return copy;
  };
  const read = (x, name, depth, copies) => {
    let member;
    try { member = x[name]; } catch { return mark('getter'); }
    return cut(member, depth + 1, copies);
  };
  return isText ? cutText(root.value) : cut(root, 1, registry());
}`;
