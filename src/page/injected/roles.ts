/// <reference lib="dom" />
import type { Dom } from './dom.ts';

/**
 * Roles as HTML-AAM 1.0 and WAI-ARIA 1.2 give them, and as Chromium does where those leave room (layout tables, `th`).
 * '' is generic; 'none' is presentational. Injected by its text: it may use only its parameters.
 */
export function roleRules({ dom }: { dom: Dom }) {
  const { attr, has, localName, matches, closest, flatParent } = dom;

  /** Elements whose role does not depend on anything. */
  const fixed: Record<string, string> = {
    address: 'group',
    article: 'article',
    audio: 'audio',
    blockquote: 'blockquote',
    button: 'button',
    canvas: 'canvas',
    caption: 'caption',
    code: 'code',
    datalist: 'listbox',
    dd: 'definition',
    del: 'deletion',
    details: 'group',
    dfn: 'term',
    dialog: 'dialog',
    dt: 'term',
    em: 'emphasis',
    fieldset: 'group',
    figcaption: 'caption',
    figure: 'figure',
    frame: 'iframe',
    h1: 'heading',
    h2: 'heading',
    h3: 'heading',
    h4: 'heading',
    h5: 'heading',
    h6: 'heading',
    hgroup: 'group',
    hr: 'separator',
    iframe: 'iframe',
    ins: 'insertion',
    legend: 'legend',
    main: 'main',
    mark: 'mark',
    math: 'math',
    menu: 'list',
    meter: 'meter',
    nav: 'navigation',
    ol: 'list',
    optgroup: 'group',
    option: 'option',
    output: 'status',
    p: 'paragraph',
    progress: 'progressbar',
    s: 'deletion',
    search: 'search',
    strong: 'strong',
    sub: 'subscript',
    sup: 'superscript',
    table: 'table',
    textarea: 'textbox',
    time: 'time',
    ul: 'list',
    video: 'video',
  };
  const inputs: Record<string, string> = {
    button: 'button',
    checkbox: 'checkbox',
    file: 'button',
    image: 'button',
    number: 'spinbutton',
    radio: 'radio',
    range: 'slider',
    reset: 'button',
    search: 'searchbox',
    submit: 'button',
  };
  const words = (text: string) => new Set(text.split(' '));
  const known = words(
    'alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox ' +
      'comment complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic ' +
      'grid gridcell group heading img image insertion link list listbox listitem log main mark marquee math menu menubar ' +
      'menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar ' +
      'radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status ' +
      'strong subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip ' +
      'tree treegrid treeitem',
  );
  /** Roles that an agent can act on: always with a ref. */
  const actionable = words(
    'button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar searchbox ' +
      'slider spinbutton switch tab textbox treeitem iframe video audio',
  );
  /** Roles named by what is inside them (WAI-ARIA 1.2, 5.2.8.4), of those that we print with a name. */
  const namedByContent = words(
    'button checkbox heading link menuitem menuitemcheckbox menuitemradio option radio switch tab tooltip treeitem ' +
      'summary',
  );
  /** Roles whose name by content would only repeat what is printed below them; the content stays instead. */
  const contentIsName = words('cell columnheader gridcell row rowheader');
  /** Printed as text: they carry emphasis or wrap, and nothing that an agent acts on. */
  const folded = words(
    'caption code emphasis generic legend mark paragraph strong subscript suggestion superscript time none presentation ' +
      'definition',
  );
  const globalAria = words(
    'aria-atomic aria-busy aria-controls aria-current aria-describedby aria-details aria-dropeffect aria-flowto ' +
      'aria-grabbed aria-keyshortcuts aria-label aria-labelledby aria-live aria-owns aria-relevant aria-roledescription ' +
      'aria-braillelabel aria-brailleroledescription aria-description',
  );

  const hasLabel = (el: Element): boolean =>
    (attr(el, 'aria-label') ?? '').trim() !== '' ||
    has(el, 'aria-labelledby') ||
    (attr(el, 'title') ?? '') !== '';

  /** Can take the focus by itself or by tabindex. */
  function focusable(el: Element, tag: string): boolean {
    if (has(el, 'tabindex') && attr(el, 'tabindex')?.trim() !== '') return true;
    switch (tag) {
      case 'a':
      case 'area':
        return has(el, 'href');
      case 'button':
      case 'select':
      case 'textarea':
        return !matches.call(el, ':disabled');
      case 'input':
        return (el as HTMLInputElement).type !== 'hidden' && !matches.call(el, ':disabled');
      case 'summary':
        return isSummary(el);
      case 'iframe':
        return true;
      case 'audio':
      case 'video':
        return has(el, 'controls');
    }
    const editable = attr(el, 'contenteditable');
    return editable !== null && editable !== 'false';
  }

  function isSummary(el: Element): boolean {
    const parent = dom.parentNode(el);
    return parent instanceof HTMLDetailsElement && dom.firstSummary(parent) === el;
  }

  /** The role that the author wrote, if it counts: the first known token; presentation gives way to focus and to global aria. */
  function explicit(el: Element, tag: string): string | null {
    const value = attr(el, 'role');
    if (value === null) return null;
    for (const token of value.toLowerCase().split(/\s+/)) {
      if (token === 'none' || token === 'presentation') return keepsRole(el, tag) ? null : 'none';
      if (token === 'region' || token === 'form') {
        if (!hasLabel(el)) continue;
        return token;
      }
      if (token === 'image') return 'img';
      if (token === 'directory') return 'list';
      if (token === 'generic') return '';
      if (known.has(token)) return token;
      if (token.startsWith('doc-') || token.startsWith('graphics-')) return publishing(token);
    }
    return null;
  }

  /** DPUB-ARIA and graphics roles by the role that they are derived from. */
  function publishing(token: string): string {
    if (/^doc-(backlink|biblioref|glossref|noteref)$/.test(token)) return 'link';
    if (token === 'doc-cover') return 'img';
    if (token === 'doc-pagebreak') return 'separator';
    if (/^doc-(index|pagelist|toc)$/.test(token)) return 'navigation';
    if (token === 'doc-subtitle') return 'heading';
    if (/^doc-(biblioentry|endnote)$/.test(token)) return 'listitem';
    if (token === 'graphics-symbol' || token === 'graphics-document') return 'img';
    return token === 'graphics-object' ? 'group' : 'region';
  }

  function keepsRole(el: Element, tag: string): boolean {
    if (focusable(el, tag)) return true;
    for (const name of dom.getAttributeNames.call(el)) if (globalAria.has(name)) return true;
    return false;
  }

  const sectioning = /^(article|aside|main|nav|section)$/;
  const sectioningRole = words('article complementary main navigation region');

  /** A header or footer is a landmark only of the page itself, an aside also of its main part. */
  function scopedToBody(el: Element, within: RegExp): boolean {
    for (let up = flatParent(el); up !== null; up = flatParent(up)) {
      const role = attr(up, 'role')?.trim();
      if (role !== undefined && sectioningRole.has(role) && (role !== 'main' || within.test('main')))
        return false;
      if (within.test(localName(up)) && (role === undefined || known.has(role))) return false;
    }
    return true;
  }

  /** `th` without scope: by its neighbours in the row, as Chromium decides. */
  function headerCell(el: Element): string {
    const scope = attr(el, 'scope')?.toLowerCase();
    if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
    if (scope === 'col' || scope === 'colgroup') return 'columnheader';
    const isData = (cell: Element | null): boolean =>
      cell !== null && localName(cell) === 'td' && cell.childNodes.length > 0;
    return isData(el.nextElementSibling) || isData(el.previousElementSibling) ? 'rowheader' : 'columnheader';
  }

  function inGrid(el: Element): boolean {
    const table = closest.call(el, 'table,[role]');
    const role = table === null ? null : attr(table, 'role');
    if (table !== null && role !== null && localName(table) !== 'table') {
      return (
        role === 'grid' ||
        role === 'treegrid' ||
        (/^row/.test(role) && closest.call(table, '[role=grid],[role=treegrid]') !== null)
      );
    }
    return role === 'grid' || role === 'treegrid';
  }

  function inputRole(el: HTMLInputElement): string {
    const type = el.type;
    if (type === 'hidden') return 'none';
    const role = inputs[type];
    if (role !== undefined && role !== 'searchbox') return role;
    if (el.list !== null && /^(text|search|tel|url|email)$/.test(type)) return 'combobox';
    return role ?? 'textbox';
  }

  /** What is edited in place, an editing host, takes text as a field does. */
  function editable(el: Element): boolean {
    const value = attr(el, 'contenteditable');
    return value !== null && /^(|true|plaintext-only)$/i.test(value.trim());
  }

  /** @param grid whether a cell is in a grid, if that is known */
  function implicit(el: Element, tag: string, grid?: boolean): string {
    const role = fixed[tag];
    if (role !== undefined) return role === 'paragraph' && editable(el) ? 'textbox' : role;
    switch (tag) {
      case 'a':
      case 'area':
        return has(el, 'href') ? 'link' : '';
      case 'aside':
        return hasLabel(el) || scopedToBody(el, /^(article|aside|nav|section)$/) ? 'complementary' : '';
      case 'footer':
        return scopedToBody(el, sectioning) ? 'contentinfo' : '';
      case 'form':
        return 'form';
      case 'header':
        return scopedToBody(el, sectioning) ? 'banner' : '';
      case 'img':
        return attr(el, 'alt') === '' && !keepsRole(el, tag) && !has(el, 'title') ? 'none' : 'img';
      case 'input':
        return inputRole(el as HTMLInputElement);
      case 'li':
        return 'listitem';
      case 'section':
        return hasLabel(el) ? 'region' : '';
      case 'select':
        return has(el, 'multiple') || (el as HTMLSelectElement).size > 1 ? 'listbox' : 'combobox';
      case 'summary':
        return isSummary(el) ? 'button' : '';
      case 'svg':
        return 'img';
      case 'tbody':
      case 'tfoot':
      case 'thead':
        return 'rowgroup';
      case 'td':
        return (grid ?? inGrid(el)) ? 'gridcell' : 'cell';
      case 'th':
        return headerCell(el);
      case 'tr':
        return 'row';
    }
    if (!dom.hasAny(el)) return '';
    return editable(el) ? 'textbox' : has(el, 'popover') ? 'group' : '';
  }

  /** True for a part of a table or list that is presentational itself; the walk knows this from above, others ask. */
  function plain(el: Element, tag: string): boolean {
    if (!/^(td|th|tr|tbody|thead|tfoot|li)$/.test(tag) || has(el, 'role')) return false;
    const owner = tag === 'li' ? flatParent(el) : closest.call(el, 'table');
    if (owner === null || !/^(table|ul|ol|menu)$/.test(localName(owner))) return false;
    return explicit(owner, localName(owner)) === 'none';
  }

  /** The role of an element: '' for generic, 'none' for presentational. Presentational parents are the walk's business. */
  function roleOf(el: Element, tag: string): string {
    return explicit(el, tag) ?? implicit(el, tag);
  }

  return {
    actionable,
    contentIsName,
    editable,
    explicit,
    folded,
    implicit,
    namedByContent,
    plain,
    roleOf,
  };
}

export type Roles = ReturnType<typeof roleRules>;
