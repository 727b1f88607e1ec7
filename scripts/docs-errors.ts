/** Writes docs/errors.md from the table of errors. Run it after a code was added or changed; a test fails when it drifts. */
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allAdvice, type ErrorCode, errorCodes, errorTable } from '../src/errors.ts';

/** They name every code. */
const ABOUT_ERRORS = new Set(['error-table.ts', 'error-advice.ts', 'errors.ts']);

const source = join(import.meta.dirname, '../src');

const element = 'the element: `ref`, `role`, `name`, `line` (as in a snapshot), `visible`';
const pointer = 'JSON pointer (RFC 6901) of the field, where one is to blame';

/** Members that a problem has beside the common ones. Not all of them are there every time. */
const members: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  invalid_request: {
    pointer,
    near: 'names that come close, for a key that does not exist',
    accept: 'for an upload: what the input accepts; `multiple`: whether it takes several files',
  },
  artifact_not_found: {
    file: 'for an upload: the name that no file has',
    actual: 'for an upload: what Chrome found in place of `expected`, when a file changed meanwhile',
  },
  session_gone: {
    reason: 'why it ended: see [receipts](residual.md#receipts)',
    receipt: 'how it ended; absent while it is still closing',
  },
  policy_denied: {
    decision: '`verdict`, `reason`, `target`, and the `rule` or `address` that decided',
    url: 'what was refused',
  },
  invalid_policy: { pointer: 'JSON pointer of the entry', entry: 'the entry as it was given' },
  navigation_failed: { netError: "Chrome's code: `net::ERR_…`", url: 'the address that failed' },
  timeout: {
    renderer: 'after an eval: what it took to stop the script',
    unmet: 'after waiting: the conditions that did not hold',
    seen: 'after waiting: what was there instead',
  },
  tab_not_found: { tabs: 'the tabs that are open', tab: 'the tab, where it was closed meanwhile' },
  frame_not_found: { frames: 'the frames of the tab: `id`, `name`, `url`' },
  target_not_found: {
    candidates: 'up to 5 elements that come close, each with a ref',
    count: 'how many elements match without `nth`',
    tab: 'for a ref: the tab that it belongs to',
  },
  ambiguous_target: {
    candidates: 'the elements that match, up to 20, each with a ref',
    frames: 'where frames were named: those that fit',
    count: 'how many there are',
  },
  stale_ref: {
    ref: 'the ref',
    reason: '`document_replaced` or `node_removed`',
    now: 'the element with the same role and name that is on the page now',
  },
  not_interactable: {
    element,
    state: 'what stands against it, [in a word](actions.md#what-done-means)',
    reason: 'the same, in words',
    options: 'for a list: its options',
  },
  not_editable: { element, state: '`readonly` or `not-editable`', reason: 'the same, in words' },
  covered: { element, coveredBy: 'the element that would get the input instead' },
  not_verified: {
    element,
    expected: 'what the action was to bring about',
    actual: 'what the page has',
    reason: 'why, as far as it can be told',
  },
  option_not_found: { element, options: 'the options that there are, up to 100', multiple: 'takes several' },
  dialog_open: { tab: 'the tab', dialog: '`type`, `message`, `defaultPrompt`, `url`, `openedAt`' },
  evaluation_error: {
    exception: '`name`, `message`, `stack`, `line`, `column`; `value` where what was thrown is not an Error',
    navigated: 'true where the page went away under the script',
  },
  assertion_failed: {
    unmet: 'the conditions that do not hold; for data, `pointer` and `message` of each place',
    seen: 'what was there instead; for data, all of it',
  },
  cookie_rejected: {
    rejected: 'each cookie that was not stored: `index`, `name`, `rule`, `detail`',
    stored: 'the cookies of the request that were stored',
  },
  cookie_not_found: { partitioned: 'cookies of that name in partitions, without their values' },
  page_crashed: { tab: 'the tab' },
  too_large: { maxBytes: 'the limit of a file', maxSide: 'of an image', maxPixels: 'of an image' },
  browser_unavailable: { stderr: 'what Chrome wrote before it ended' },
};

const common: readonly (readonly string[])[] = [
  ['member', 'meaning'],
  ['`type`', '`/problems/<code>`: a page that the service serves'],
  ['`title`', 'what the code means, the same each time'],
  ['`status`', 'the HTTP status'],
  ['`code`', 'one of the codes below'],
  ['`detail`', 'what happened this time'],
  ['`instance`', 'path of the request'],
  [
    '`retryable`',
    'whether the same request may succeed later, unchanged; this value counts, not the one below',
  ],
  ['`suggestion`', 'what to do next, in English or (`Accept-Language: pt-BR`) Portuguese'],
  ['`requestId`', 'the request in the log of the service; also the header `X-Request-Id`'],
  ['`sessionId`', 'the session, where there is one'],
  ['`diagnosis`', 'the page, where an operation on one failed'],
];

const head = `# Errors

<!-- Written by scripts/docs-errors.ts (npm run docs) from src/error-table.ts and src/error-advice.ts. Do not edit. -->

Every error is a problem document (RFC 9457, \`application/problem+json\`). Programs decide by \`code\`, which never changes
its meaning; people read \`detail\` and \`suggestion\`.

${columns(common)}
\`diagnosis\` holds \`tab\`, \`url\`, \`title\`, \`dialog\`, and the last five each of \`denials\` (of the network policy, since the
operation began), \`failedRequests\` and \`consoleErrors\`. It is text of the page, and the answer then carries
\`Airlock-Untrusted: page\`.

## All codes
`;

/** The text of docs/errors.md. */
export function errorsPage(): string {
  const used = codesInUse();
  const rows = errorCodes.map((code) => {
    const { status, retryable, title } = errorTable[code];
    return [`[\`${code}\`](#${code})`, String(status), retryable ? 'yes' : 'no', title];
  });
  const table = columns([['code', 'status', 'retryable', 'meaning'], ...rows]);
  return `${head}\n${table}${errorCodes.map((code) => section(code, used.has(code))).join('')}`;
}

function section(code: ErrorCode, inUse: boolean): string {
  const { status, title, retryable, suggestion } = errorTable[code];
  const extra = Object.entries(members[code] ?? {}).map(([name, text]) => `- \`${name}\`: ${text}`);
  const others = allAdvice(code).map(({ en }) => `- ${en}`);
  const lines = [
    `\n### ${code}\n`,
    `${title}. HTTP ${status}, ${retryable ? 'may succeed later' : 'repeating it does not help'}.\n`,
    ...(inUse ? [] : ['No operation answers it yet.\n']),
    `${suggestion.en}\n`,
    ...(others.length === 0 ? [] : [`Or, by the cause:\n\n${others.join('\n')}\n`]),
    ...(extra.length === 0 ? [] : [`${extra.join('\n')}\n`]),
  ];
  return lines.join('\n');
}

/** Codes that something throws: the table is ahead of what is built. */
function codesInUse(): Set<ErrorCode> {
  const texts = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !ABOUT_ERRORS.has(path))
    .map((path) => readFileSync(join(source, path), 'utf8'));
  return new Set(errorCodes.filter((code) => texts.some((text) => text.includes(`'${code}'`))));
}

/** A Markdown table whose columns are in line. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return `${[lines[0], rule, ...lines.slice(1)].join('\n')}\n`;
}

if (import.meta.main) await writeFile(join(import.meta.dirname, '../docs/errors.md'), errorsPage());
