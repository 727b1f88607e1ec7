/**
 * Keeps a long string in the page: Chrome sends a primitive whole, whatever the caller wants of it (10 MB take seconds on
 * the way). Given a value, or waiting for a promise's, it hands a long string on inside an object that `BOUNDED` knows
 * by its key. Only operators and `await`, so that nothing the page has redefined takes part.
 */
const clamp = (key: string, maxChars: number, awaitPromise: boolean) => {
  const short = `typeof v === 'string' && v.length > ${maxChars} ? { __proto__: null, ['${key}']: 'string', value: v } : v`;
  if (!awaitPromise) return `((v) => ${short})`;
  const pending = `typeof v === 'object' && v !== null && typeof v.then === 'function'`;
  return `((c) => (v) => ${pending} ? (async () => c(await v))() : c(v))((v) => ${short})`;
};

export interface WrapOptions {
  /** Random; names the member that marks the object. */
  readonly key: string;
  readonly maxChars: number;
  readonly awaitPromise: boolean;
}

/** Lines that a wrapped text has before its own first line; positions that Chrome tells are that much further down. */
export const WRAPPER_LINES = 1;

/** What a statement begins with, and an expression in parentheses would be something else for, or nothing. */
const STATEMENT =
  /^(?:\{|;|$|(?:async\s+function|function|class|let|const|var|if|for|while|do|switch|try|throw|return|import|export)\b)/;

const LEADING_COMMENTS = /^(?:\s|\/\/.*(?:\n|$)|\/\*[\s\S]*?\*\/)+/;

/**
 * The text with its value clamped, if it may be an expression: a parser then decides. An expression means the same in
 * parentheses as by itself (ECMAScript, ExpressionStatement: all that may not begin one is in `STATEMENT`).
 */
export function wrapExpression(text: string, options: WrapOptions): string | undefined {
  if (STATEMENT.test(text.replace(LEADING_COMMENTS, ''))) return undefined;
  const expression = text.replace(/[;\s]+$/, '');
  return `${clamp(options.key, options.maxChars, options.awaitPromise)}((\n${expression}\n))`;
}

/** The function of a caller, as one that takes `arity` arguments and clamps what it gives; throws `key` if it is none. */
export function wrapFunction(text: string, arity: number, options: WrapOptions): string {
  const names = Array.from({ length: arity }, (_, index) => `a${index}`).join();
  const clamped = clamp(options.key, options.maxChars, options.awaitPromise);
  const checked = `if (typeof f !== 'function') throw '${options.key}'; return ${clamped}(f(${names}));`;
  return `(${names}) => { const f = (\n${text}\n); ${checked} }`;
}

/** A body with `return` at its top level, as a function that is called. */
export function wrapBody(text: string, options: WrapOptions): string {
  const asyncness = /\bawait\b/.test(text) ? 'async ' : '';
  return `${clamp(options.key, options.maxChars, options.awaitPromise)}((${asyncness}() => {\n${text}\n})())`;
}

/** A stack as the caller's text would have it by itself: without the wrapper's frames and lines. */
export function unwrapStack(stack: string, lines: number): string {
  if (lines === 0) return stack;
  return stack
    .split('\n')
    .filter((line) => !line.startsWith('    at ') || !/<anonymous>:1:\d+\)?$/.test(line))
    .map((line) =>
      line.replaceAll(/<anonymous>:(\d+):/g, (_, at: string) => `<anonymous>:${Number(at) - lines}:`),
    )
    .join('\n');
}
