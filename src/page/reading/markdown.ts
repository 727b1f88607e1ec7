/// <reference lib="dom" />
import domino from '@mixmark-io/domino';
import TurndownService from 'turndown';
import { gfm } from 'turndown-plugin-gfm';

/** Markdown of simple HTML (injected/clean.ts prints it): CommonMark with the tables and task lists of GitHub. */
export function toMarkdown(html: string): string {
  const service = new TurndownService({
    headingStyle: 'atx',
    hr: '---',
    bulletListMarker: '-',
    codeBlockStyle: 'fenced',
    emDelimiter: '*',
  });
  service.use(gfm);
  addRules(service);
  const { body } = domino.createDocument(html, true);
  return service.turndown(body).trim();
}

/** In place of those of Turndown and of the plug-in, where pages of today break theirs. */
function addRules(service: TurndownService): void {
  service.addRule('strikethrough', {
    filter: ['del', 's'],
    replacement: (content) => (content.trim() === '' ? '' : `~~${content}~~`),
  });
  service.addRule('heading', {
    filter: ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
    replacement: (content, node) => {
      const text = oneLine(content);
      return text === '' ? '' : `\n\n${'#'.repeat(Number(node.nodeName.charAt(1)))} ${text}\n\n`;
    },
  });
  service.addRule('link', {
    filter: (node) => node.nodeName === 'A' && node.getAttribute('href') !== null,
    replacement: (content, node) => {
      const text = oneLine(content);
      const href = elementOf(node).getAttribute('href') ?? '';
      const title = (elementOf(node).getAttribute('title') ?? '').replace(/\s+/g, ' ').replace(/"/g, '\\"');
      if (text === '') return '';
      return `[${text}](${destination(href)}${title === '' ? '' : ` "${title}"`})`;
    },
  });
  service.addRule('task', {
    filter: (node) => node.nodeName === 'INPUT',
    replacement: (_, node) => {
      const mark = elementOf(node).hasAttribute('checked') ? '[x]' : '[ ]';
      return /^\s/.test(node.nextSibling?.textContent ?? '') ? mark : `${mark} `;
    },
  });
  const places = new WeakMap<Node, number>();
  service.addRule('item', {
    filter: 'li',
    replacement: (content, node) => {
      const prefix = marker(elementOf(node), places);
      const body = content.replace(/^\n+|\n+$/g, '').replace(/\n(?!\n)/g, `\n${' '.repeat(prefix.length)}`);
      return `${prefix}${body.trim() === '' ? '' : body}${node.nextSibling === null ? '' : '\n'}`;
    },
  });
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content, node) => {
      const text = oneLine(content).replace(/(?<!\\)\|/g, '\\|');
      return `${node.previousSibling === null ? '| ' : ' '}${text} |`;
    },
  });
  service.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => {
      const cells = [...childrenOf(node)];
      const heads = cells.length > 0 && cells.every((cell) => cell.nodeName === 'TH');
      return `\n${content}${heads ? `\n|${' --- |'.repeat(cells.length)}` : ''}`;
    },
  });
  service.addRule('table', {
    filter: 'table',
    replacement: (content, node) => {
      const row = elementOf(node).getElementsByTagName('tr').item(0);
      const cells = row ? [...childrenOf(row)] : [];
      if (content.trim() === '') return '';
      const headed = cells.some((cell) => cell.nodeName === 'TH');
      // A table of Markdown begins with the names of its columns.
      const head =
        headed || cells.length === 0
          ? ''
          : `|${'  |'.repeat(cells.length)}\n|${' --- |'.repeat(cells.length)}\n`;
      return `\n\n${head}${content.trim().replace(/\n{2,}/g, '\n')}\n\n`;
    },
  });
}

function oneLine(content: string): string {
  return content.replace(/(?: {2}|\\)?\s*\n\s*/g, ' ').trim();
}

function destination(href: string): string {
  const escaped = href.replace(/[<>()\\]/g, '\\$&');
  return /\s/.test(escaped) ? `<${escaped}>` : escaped;
}

function marker(item: Element, places: WeakMap<Node, number>): string {
  const list = item.parentNode;
  if (list?.nodeName !== 'OL') return '- ';
  const start = Number(elementOf(list).getAttribute('start') ?? 1);
  const place = places.get(list) ?? (Number.isInteger(start) ? start : 1);
  places.set(list, place + 1);
  return `${place}. `;
}

/** Turndown's rules name elements only. */
function elementOf(node: Node): Element {
  return node as Element;
}

function* childrenOf(node: Node): Generator<Node> {
  for (let child = node.firstChild; child !== null; child = child.nextSibling) yield child;
}
