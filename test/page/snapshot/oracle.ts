import type { Protocol } from 'devtools-protocol';
import type { Described } from '../../../src/page/injected/types.ts';
import type { Bench } from './harness.ts';

/** One point in which the walk and the engine's accessibility tree differ. */
export interface Difference {
  kind: 'role' | 'name' | 'no-ref' | 'extra-ref' | 'no-text' | 'extra-text' | 'state';
  /** The element, as a person finds it again. */
  element: string;
  engine: string;
  ours: string;
}

type AxNode = Protocol.Accessibility.AXNode;

interface Seen extends Described {
  html: string;
  /** Inside something that the walk does not go into: options of a closed list and the like. */
  connected: boolean;
}

/** Engine roles that are spelled otherwise here. '' is a role that we print as text or not at all. */
const spelled: Record<string, string> = {
  Abbr: '',
  Audio: 'audio',
  Canvas: 'canvas',
  ColorWell: 'textbox',
  Date: 'textbox',
  DateTime: 'textbox',
  DescriptionList: '',
  Details: 'group',
  DisclosureTriangle: 'button',
  DisclosureTriangleGrouped: 'button',
  EmbeddedObject: '',
  Figcaption: 'caption',
  FooterAsNonLandmark: '',
  HeaderAsNonLandmark: '',
  Iframe: 'iframe',
  IframePresentational: 'iframe',
  image: 'img',
  InputTime: 'textbox',
  LabelText: '',
  LayoutTable: 'table',
  LayoutTableCell: 'cell',
  LayoutTableRow: 'row',
  Legend: 'legend',
  MathMLMath: 'math',
  Ruby: '',
  'doc-abstract': 'region',
  'doc-noteref': 'link',
  'doc-toc': 'navigation',
  LineBreak: '',
  ListMarker: '',
  MenuListOption: 'option',
  MenuListPopup: '',
  PluginObject: '',
  Pre: '',
  RubyAnnotation: '',
  Section: '',
  SectionFooter: '',
  SectionHeader: '',
  SvgRoot: 'img',
  Video: 'video',
  none: '',
  sectionfooter: '',
  sectionheader: '',
  generic: '',
  presentation: '',
};
const textRoles = new Set(['StaticText', 'InlineTextBox', 'RootWebArea', 'ListMarker', 'LineBreak']);

/** Whitespace, invisible characters and private-use icons do not count. */
export function plain(text: string): string {
  return text
    .replace(/[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

function squeezed(text: string): string {
  return plain(text).replace(/[\s"\\]/g, '');
}

/** Compares the walk of the loaded page with `Accessibility.getFullAXTree`. */
export async function compare(bench: Bench): Promise<Difference[]> {
  const text = await bench.text();
  const { nodes } = await bench.cdp.send('Accessibility.getFullAXTree');
  const shown = nodes.filter((node) => !node.ignored);
  const elements = shown.filter(
    (node) => !textRoles.has(String(node.role?.value)) && node.backendDOMNodeId !== undefined,
  );
  const seen = await describeAll(bench, elements);
  const out: Difference[] = [];
  elements.forEach((node, index) => {
    const ours = seen[index];
    if (ours !== undefined && ours !== null) out.push(...differences(node, ours));
  });
  out.push(...missingText(shown, text), ...extraText(shown, text), ...(await extraRefs(bench, nodes)));
  return out;
}

async function describeAll(bench: Bench, nodes: AxNode[]): Promise<(Seen | null)[]> {
  const executionContextId = bench.contextId();
  const handles = await Promise.all(
    nodes.map(({ backendDOMNodeId }) =>
      bench.cdp
        .send('DOM.resolveNode', { backendNodeId: backendDOMNodeId ?? 0, executionContextId })
        .then(({ object }) => object.objectId),
    ),
  );
  const answer = await bench.cdp.send('Runtime.callFunctionOn', {
    executionContextId,
    returnByValue: true,
    functionDeclaration: `(...nodes) => nodes.map((node) => node instanceof Element
      && !(node.getRootNode() instanceof ShadowRoot && node.getRootNode().host.shadowRoot === null)
      ? {...airlock.describe(node), html: node.outerHTML.slice(0, 160), connected: node.isConnected} : null)`,
    arguments: handles.map((objectId) => ({ objectId: objectId ?? '' })),
  });
  if (answer.exceptionDetails !== undefined) throw new Error(answer.exceptionDetails.exception?.description);
  return answer.result.value as (Seen | null)[];
}

function property(node: AxNode, name: string): unknown {
  return node.properties?.find((one) => one.name === name)?.value.value;
}

const named = new Set(
  'button checkbox combobox dialog alertdialog figure form group heading img link listbox menuitem menuitemcheckbox menuitemradio meter navigation option progressbar radio radiogroup region searchbox slider spinbutton switch tab table tabpanel textbox tree treeitem iframe list main banner contentinfo complementary toolbar menu menubar tablist search article'.split(
    ' ',
  ),
);
const acting = new Set(
  'button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider spinbutton switch tab textbox treeitem iframe'.split(
    ' ',
  ),
);

function differences(node: AxNode, ours: Seen): Difference[] {
  const out: Difference[] = [];
  const engineRole = String(node.role?.value);
  const role = spelled[engineRole] ?? engineRole;
  const ourRole = ours.role === 'generic' ? '' : ours.role;
  const at = { element: ours.html };
  if (role !== ourRole) out.push({ kind: 'role', ...at, engine: engineRole, ours: ours.role });
  const name = plain(String(node.name?.value ?? ''));
  if (named.has(role) && name !== plain(ours.name))
    out.push({ kind: 'name', ...at, engine: `${role} "${name}"`, ours: `"${ours.name}"` });
  const focusable = property(node, 'focusable') === true && /tabindex="?\s*\d/.test(ours.html);
  if ((acting.has(role) || focusable) && ours.ref === 0)
    out.push({ kind: 'no-ref', ...at, engine: `${engineRole} "${name}"`, ours: '' });
  out.push(...stateDifferences(node, ours, role));
  return out;
}

function stateDifferences(node: AxNode, ours: Seen, role: string): Difference[] {
  const out: Difference[] = [];
  const expect = (state: string, wanted: boolean): void => {
    if (ours.states.includes(state) === wanted) return;
    out.push({
      kind: 'state',
      element: ours.html,
      engine: `${role} ${state} ${wanted}`,
      ours: ours.states.join(' '),
    });
  };
  if (!acting.has(role) && role !== 'heading') return out;
  expect('disabled', property(node, 'disabled') === true);
  expect('required', property(node, 'required') === true);
  const checked = property(node, 'checked');
  if (role !== 'option') {
    expect('checked', checked === 'true');
    expect('checked=mixed', checked === 'mixed');
  }
  const pressed = property(node, 'pressed');
  expect('pressed', pressed === 'true');
  expect('pressed=mixed', pressed === 'mixed');
  expect('selected', property(node, 'selected') === true);
  const expanded = property(node, 'expanded');
  if (role !== 'combobox' || !ours.html.startsWith('<select')) {
    expect('expanded', expanded === true);
    expect('expanded=false', expanded === false);
  }
  const level = property(node, 'level');
  if (role === 'heading') expect(`level=${level}`, true);
  return out;
}

/** Every text that the engine shows must be somewhere in the snapshot. */
function missingText(shown: AxNode[], text: string): Difference[] {
  const have = squeezed(text);
  const out: Difference[] = [];
  for (const node of shown) {
    if (node.role?.value !== 'StaticText') continue;
    const value = plain(String(node.name?.value ?? ''));
    if (value === '' || value.length > 1500 || !/[\p{L}\p{N}]/u.test(value) || have.includes(squeezed(value)))
      continue;
    out.push({ kind: 'no-text', element: '', engine: value.slice(0, 200), ours: '' });
  }
  return out;
}

/** Every text that the snapshot shows must be in the engine's tree. */
function extraText(shown: AxNode[], text: string): Difference[] {
  const have = squeezed(
    shown
      .filter((node) => node.role?.value === 'StaticText')
      .map((node) => String(node.name?.value ?? ''))
      .join('|'),
  );
  const out: Difference[] = [];
  for (const [, line = ''] of text.matchAll(/^\s*- text: (.*)$/gm)) {
    // Word by word, since the engine lists its nodes level by level.
    const words = plain(line).split(' ');
    if (!words.every((word) => have.includes(squeezed(word))))
      out.push({ kind: 'extra-text', element: '', engine: '', ours: line });
  }
  return out;
}

/** Every ref must be on a node that the engine offers too. */
async function extraRefs(bench: Bench, nodes: AxNode[]): Promise<Difference[]> {
  const text = await bench.text();
  const refs = [...text.matchAll(/^\s*- (?!generic)(?:\w+)(?: "(?:[^"\\]|\\.)*")? \[ref=e(\d+)\]/gm)].map(
    (match) => Number(match[1]),
  );
  const known = new Map(nodes.map((node) => [node.backendDOMNodeId, node]));
  const out: Difference[] = [];
  const checks = refs.map(async (ref) => {
    const { result } = await bench.cdp.send('Runtime.evaluate', {
      expression: `airlock.node(${ref})`,
      contextId: bench.contextId(),
    });
    const { node } = await bench.cdp.send('DOM.describeNode', { objectId: result.objectId ?? '' });
    const engine = known.get(node.backendNodeId);
    if (engine !== undefined && !engine.ignored) return;
    const about = await bench.evaluate<string>(`airlock.node(${ref}).outerHTML.slice(0, 160)`);
    const line = await bench.evaluate<string>(`airlock.describe(airlock.node(${ref})).line`);
    out.push({
      kind: 'extra-ref',
      element: about,
      engine: engine === undefined ? 'absent' : 'ignored',
      ours: line,
    });
  });
  await Promise.all(checks);
  return out;
}
