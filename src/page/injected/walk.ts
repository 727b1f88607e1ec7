/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { Hosts } from './hosts.ts';
import type { Lines } from './lines.ts';
import type { Printer } from './printer.ts';
import type { Roles } from './roles.ts';
import type { BoxKind, Styles } from './style.ts';
import type { WalkOptions } from './types.ts';

/** An element that has been entered and not yet left. Kept here and not on the stack: pages nest thousands deep. */
interface Open {
  el: Element;
  /** The next child to enter, when children are siblings. */
  next: Node | null;
  /** The next children to enter, when they are not (slots, details, aria-owns). */
  list: Node[] | null;
  at: number;
  owns: boolean;
  /** Own line, -1 for an element that prints none. */
  line: number;
  /** Where the lines inside begin. */
  from: number;
  /** Depth of the lines inside. */
  depth: number;
  flags: number;
  seen: boolean;
}

export interface Run {
  lines: Lines;
  options: WalkOptions;
  focus: Element | null;
  /** Elements that aria-owns moves, by their owner. */
  owned: Map<Element, Element>;
  stack: Open[];
  /** Elements met that may have a closed shadow root. */
  hosts: number;
}

export interface Visit {
  el: Element;
  tag: string;
  role: string;
  /** Has no attribute at all. */
  bare: boolean;
  /** Has an aria attribute. */
  aria: boolean;
  depth: number;
  flags: number;
  /** 2: can be acted on; 1: looks clickable; 0: neither. */
  act: 0 | 1 | 2;
  /** What its box does to what is inside. */
  box: BoxKind;
  seen: boolean;
}

/** The walk of one frame: one pass in painted order. Injected by its text. */
export function walker({
  dom,
  styles,
  roles,
  printer,
  hosts,
  newLines,
}: {
  dom: Dom;
  styles: Styles;
  roles: Roles;
  printer: Printer;
  hosts: Hosts;
  newLines: () => Lines;
}) {
  const { attr, localName, nodeType, nextSibling } = dom;
  const { POINTER, MUTE, UNPAINTED, DISABLED, PLAIN_TABLE, PLAIN_LIST, GRID } = printer.flags;
  /** What attributes tell: has aria, is aria-disabled, can be acted on, is edited in place. */
  const ARIA = 1;
  const OFF = 2;
  const FIRM = 4;
  const EDIT = 8;

  const skipped = new Set(
    'base col colgroup datalist head link meta noscript param script source style template title track wbr'.split(
      ' ',
    ),
  );
  const tableRoles = /^(rowgroup|row|cell|gridcell|columnheader|rowheader)$/;
  /** What is inside these is clicked with them; other focusable elements may be large containers. */
  const clicked = /^(button|checkbox|link|menuitem|menuitemcheckbox|menuitemradio|option|radio|switch|tab)$/;
  const captions = /^(caption|legend)$/;

  function walk(root: Element, options: WalkOptions): { lines: Lines; hosts: number } {
    const run: Run = {
      lines: newLines(),
      options,
      focus: dom.deepFocus(),
      owned: ownedBy(root),
      stack: [],
      hosts: 0,
    };
    enter(run, root, null);
    for (let top = run.stack.at(-1); top !== undefined; top = run.stack.at(-1)) {
      const node = nextChild(run, top);
      if (node === null) {
        run.stack.pop();
        leave(run, top);
        continue;
      }
      const type = nodeType(node);
      if (type === 1) enter(run, node as Element, top);
      else if (type === 3 && (top.flags & (MUTE | UNPAINTED)) === 0) {
        run.lines.addText(dom.nodeValue(node) ?? '', top.depth, top.seen);
      }
    }
    run.lines.flush();
    return { lines: run.lines, hosts: run.hosts };
  }

  function nextChild(run: Run, top: Open): Node | null {
    if (top.list !== null) {
      const node = top.list[top.at++];
      if (node !== undefined) return node;
    } else if (top.next !== null) {
      const node = top.next;
      top.next = nextSibling(node);
      return node;
    }
    if (!top.owns) return null;
    top.owns = false;
    top.list = [];
    top.at = 0;
    for (const [el, owner] of run.owned) if (owner === top.el) top.list.push(el);
    return nextChild(run, top);
  }

  /** aria-owns of the document. The first owner wins; an owner inside what it owns, or a circle, does not count. */
  function ownedBy(root: Element): Map<Element, Element> {
    const owned = new Map<Element, Element>();
    const tree = dom.treeRoot(root);
    const owners =
      tree instanceof ShadowRoot
        ? tree.querySelectorAll('[aria-owns]')
        : dom.docProto.querySelectorAll.call(document, '[aria-owns]');
    for (const owner of owners) {
      if (styles.paints(owner) !== 2) continue;
      for (const el of dom.referenced(owner, 'aria-owns', 'ariaOwnsElements')) {
        if (!owned.has(el) && !above(owned, owner, el)) owned.set(el, owner);
      }
    }
    return owned;
  }

  function above(owned: Map<Element, Element>, from: Element, el: Element): boolean {
    for (let node: Element | null = from; node !== null; node = owned.get(node) ?? dom.flatParent(node)) {
      if (node === el) return true;
    }
    return false;
  }

  function enter(run: Run, el: Element, parent: Open | null): void {
    const tag = localName(el);
    if (skipped.has(tag)) return;
    if (run.owned.size > 0 && run.owned.has(el) && parent !== null && run.owned.get(el) !== parent.el) return;
    const flags = parent?.flags ?? 0;
    const depth = parent?.depth ?? 0;
    if (tag === 'br') {
      if ((flags & MUTE) === 0) run.lines.addText(' ', depth, false);
      return;
    }
    const visit = look(run, el, tag, parent);
    if (visit === null) return;
    const painted = (visit.flags & UNPAINTED) === 0;
    if (tag === 'select' && painted) printer.select(run, visit);
    else if (tag === 'label' && painted && printer.standIn(run, visit))
      open(run, visit, run.lines.count() - 1);
    else if (printer.silent(visit)) open(run, visit, -1);
    else printLine(run, visit);
  }

  /** Reads what decides about an element; null if neither it nor anything inside is printed. */
  function look(run: Run, el: Element, tag: string, parent: Open | null): Visit | null {
    const bare = !dom.hasAny(el);
    const told = bare ? 0 : attributes(run, el);
    if (told < 0) return null;
    const paint = styles.paints(el);
    if (paint === 0) {
      if (parent !== null && hosts.mayHide(parent.el) && hosts.unslotted(el)) run.hosts++;
      return null;
    }
    const inherited = parent?.flags ?? 0;
    let flags = paint === 1 ? inherited | UNPAINTED : inherited & ~UNPAINTED;
    if ((told & OFF) !== 0) flags |= DISABLED;
    const role = effectiveRole(el, tag, bare, flags);
    flags = contextFlags(tag, role, flags);
    const act = paint === 1 ? 0 : acts(el, tag, role, told, flags);
    if (act === 2 && !clicked.test(role)) flags |= styles.pointer(el) ? POINTER : 0;
    else if (act > 0) flags |= POINTER;
    const box = tag === 'html' || tag === 'body' || paint === 1 ? '' : styles.boxOf(el);
    if (box === 'inert') return null;
    const seen = !run.options.viewport || inViewport(el, parent);
    return {
      el,
      tag,
      role,
      bare,
      aria: (told & ARIA) !== 0,
      depth: parent?.depth ?? 0,
      flags,
      act,
      box,
      seen,
    };
  }

  /** One pass over the attribute names: what they tell, -1 for an element that is not offered at all. */
  function attributes(run: Run, el: Element): number {
    let told = 0;
    for (const name of dom.getAttributeNames.call(el)) {
      if (name.startsWith('aria-')) {
        told |= ARIA;
        if (name === 'aria-hidden' && attr(el, name) === 'true' && hides(run, el)) return -1;
        if (name === 'aria-disabled' && attr(el, name) === 'true') told |= OFF;
      } else if (name === 'inert') return -1;
      else if (name === 'onclick') told |= FIRM;
      else if (name === 'tabindex') told |= Number.parseInt(attr(el, name) ?? '', 10) >= 0 ? FIRM : 0;
      else if (name === 'draggable') told |= attr(el, name) === 'true' ? FIRM : 0;
      else if (name === 'contenteditable') told |= roles.editable(el) ? FIRM | EDIT : 0;
    }
    return told;
  }

  /** As Chromium has it, aria-hidden does not count on the whole page, nor around what has the focus. */
  function hides(run: Run, el: Element): boolean {
    return !/^(html|body)$/.test(localName(el)) && !dom.holds(el, run.focus);
  }

  function effectiveRole(el: Element, tag: string, bare: boolean, flags: number): string {
    const written = bare ? null : roles.explicit(el, tag);
    if (written !== null) return written;
    const role = roles.implicit(el, tag, (flags & GRID) !== 0);
    if ((flags & PLAIN_TABLE) !== 0 && tableRoles.test(role)) return 'none';
    return (flags & PLAIN_LIST) !== 0 && role === 'listitem' ? 'none' : role;
  }

  /** What an element makes of the tables and lists around it for what is inside. */
  function contextFlags(tag: string, role: string, flags: number): number {
    switch (role) {
      case 'none':
        return flags | plainFlag(tag);
      case 'list':
        return flags & ~PLAIN_LIST;
      case 'table':
        return flags & ~(PLAIN_TABLE | GRID);
      case 'grid':
      case 'treegrid':
        return (flags & ~PLAIN_TABLE) | GRID;
    }
    return flags;
  }

  function plainFlag(tag: string): number {
    if (tag === 'table') return PLAIN_TABLE;
    return tag === 'ul' || tag === 'ol' || tag === 'menu' ? PLAIN_LIST : 0;
  }

  function acts(el: Element, tag: string, role: string, told: number, flags: number): 0 | 1 | 2 {
    if (roles.actionable.has(role) || tag === 'canvas') return 2;
    if (tag === 'details' && dom.firstSummary(el) === null) return 2;
    if (tag === 'html' || tag === 'body') return (told & EDIT) !== 0 ? 2 : 0;
    if (tag === 'label') return 0;
    if ((told & FIRM) !== 0) return 2;
    return (flags & POINTER) === 0 && styles.pointer(el) ? 1 : 0;
  }

  function inViewport(el: Element, parent: Open | null): boolean {
    const box = dom.getBoundingClientRect.call(el);
    // Nothing of its own: `display: contents`, or a wrapper around what is positioned.
    if (box.width === 0 && box.height === 0) return parent?.seen ?? true;
    return box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  }

  function printLine(run: Run, visit: Visit): void {
    const line = printer.print(run, visit);
    if (line === null) return;
    if (line.leaf) run.lines.close(line.index);
    else {
      visit.flags = line.flags;
      open(run, visit, line.index);
    }
  }

  /** Enters the children of an element. `line` is -1 where it prints nothing itself. */
  function open(run: Run, visit: Visit, line: number): void {
    const { el, tag } = visit;
    let flags = visit.flags;
    if (tag === 'label') flags |= printer.labelFlags(el);
    else if (captions.test(tag)) flags |= printer.captionFlags(el);
    if (line < 0) run.lines.edge(el);
    if (hosts.mayHost(el, tag)) run.hosts++;
    if ((flags & (MUTE | UNPAINTED)) === 0) {
      const before = styles.pseudo(el, '::before');
      if (before !== '') run.lines.addText(before, visit.depth + (line < 0 ? 0 : 1), visit.seen);
    }
    const list =
      visit.box === 'hides'
        ? []
        : tag === 'details'
          ? closedDetails(el)
          : tag === 'slot'
            ? dom.slotted(el)
            : null;
    run.stack.push({
      el,
      next: list === null ? dom.firstFlat(el) : null,
      list,
      at: 0,
      owns: run.owned.size > 0 && visit.aria,
      line,
      from: run.lines.mark(),
      depth: line < 0 ? visit.depth : visit.depth + 1,
      flags,
      seen: visit.seen,
    });
  }

  /** A closed details shows its summary only; its own text is not painted although it is a child. */
  function closedDetails(el: Element): Node[] | null {
    if (!(el instanceof HTMLDetailsElement) || el.open) return null;
    const summary = dom.firstSummary(el);
    return summary === null ? [] : [summary];
  }

  function leave(run: Run, frame: Open): void {
    if ((frame.flags & (MUTE | UNPAINTED)) === 0) {
      const after = styles.pseudo(frame.el, '::after');
      if (after !== '') run.lines.addText(after, frame.depth, frame.seen);
    }
    if (frame.line >= 0) run.lines.close(frame.line);
    else {
      run.lines.group(frame.el, frame.from);
      run.lines.edge(frame.el);
    }
  }

  return { walk };
}

export type Walker = ReturnType<typeof walker>;
