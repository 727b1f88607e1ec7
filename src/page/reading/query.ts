import { type Static, Type } from 'typebox';
import { readHands } from '../actions/call-hands.ts';
import type { Frame } from '../frames.ts';
import type { NodeState } from '../hands/types.ts';
import type { Operation } from '../operation.ts';
import { formatRef } from '../refs.ts';
import { claimRefs, placeTarget, query as queryFrame, resolveTarget } from '../resolve-target.ts';
import { UNTRUSTED } from '../schema.ts';
import { Target } from '../target.ts';
import { notOneError } from '../target-errors.ts';
import { callReader } from './call-reader.ts';
import { DEFAULT_MAX_CHARS } from './content.ts';
import { cutAt } from './cut.ts';
import { FACTS, type Facts } from './injected/types.ts';
import { MOST_CHARS, tooLarge } from './read.ts';

const PROPS = [...FACTS, 'state', 'style', 'count'] as const;

export const QueryInput = Type.Object(
  {
    target: Target,
    props: Type.Array(Type.Enum([...PROPS]), { minItems: 1, uniqueItems: true }),
    all: Type.Optional(
      Type.Boolean({ description: 'every element that matches, in `elements`, in place of exactly one' }),
    ),
    styles: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: 100,
        description: 'CSS properties that `style` answers; default: a choice of common ones',
      }),
    ),
    maxChars: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000_000,
        description: `of each text and html; default ${DEFAULT_MAX_CHARS}`,
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'elements with `all`; default 100' }),
    ),
  },
  { additionalProperties: false },
);
export type QueryInput = Static<typeof QueryInput>;

const Element = {
  ref: Type.Optional(Type.String()),
  text: Type.Optional(Type.String(UNTRUSTED)),
  value: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String()), Type.Null()], {
      ...UNTRUSTED,
      description: 'what a field holds now; null for what is no field',
    }),
  ),
  html: Type.Optional(Type.String(UNTRUSTED)),
  attributes: Type.Optional(Type.Record(Type.String(), Type.String(), UNTRUSTED)),
  box: Type.Optional(
    Type.Union(
      [
        Type.Object({ x: Type.Number(), y: Type.Number(), width: Type.Number(), height: Type.Number() }),
        Type.Null(),
      ],
      { description: 'CSS pixels in the viewport of its frame; null for what has none' },
    ),
  ),
  state: Type.Optional(
    Type.Object(
      {
        role: Type.String(),
        name: Type.String(),
        visible: Type.Boolean(),
        enabled: Type.Boolean(),
        editable: Type.Boolean(),
        focused: Type.Boolean(),
        checked: Type.Union([Type.Boolean(), Type.Literal('mixed'), Type.Null()]),
      },
      UNTRUSTED,
    ),
  ),
  style: Type.Optional(
    Type.Record(Type.String(), Type.String(), { ...UNTRUSTED, description: 'computed values' }),
  ),
  truncated: Type.Optional(
    Type.Array(Type.Enum(['text', 'html']), { description: 'what was cut; the rest: text or html by ref' }),
  ),
};
const ElementSchema = Type.Object(Element);
type Told = Static<typeof ElementSchema>;

export const QueryResult = Type.Object({
  ...Element,
  count: Type.Optional(Type.Integer({ description: 'elements that match' })),
  elements: Type.Optional(Type.Array(ElementSchema)),
});
export type QueryResult = Static<typeof QueryResult>;

const DEFAULT_LIMIT = 100;

/**
 * Facts of the one element that the target names, or of all that match. For `count` alone any number will do, none too.
 * @throws AirlockError those of `resolveTarget`; `too_large`
 */
export async function query(op: Operation, input: QueryInput): Promise<QueryResult> {
  const { props, target } = input;
  if (input.all) return queryAll(op, input);
  if (props.length === 1 && props[0] === 'count') return { count: (await countOf(op, target)).count };
  const { frame, number } = await resolveTarget(op, target);
  const [told] = await tellAll(op, frame, [number], input);
  const count = props.includes('count') ? { count: (await countOf(op, target)).count } : {};
  return { ...told, ...count };
}

async function countOf(op: Operation, target: Target): Promise<{ frame: Frame; count: number }> {
  const { target: parsed, frame } = await placeTarget(op, target);
  const answer = await queryFrame(op, frame, parsed.query);
  if (answer.error) throw notOneError(frame, parsed, { ...answer, candidates: [] });
  return { frame, count: answer.count };
}

async function queryAll(op: Operation, input: QueryInput): Promise<QueryResult> {
  const { target: parsed, frame } = await placeTarget(op, input.target);
  const { nth: _, ...wanted } = parsed.query;
  const most = input.limit ?? DEFAULT_LIMIT;
  const answer = await callReader(op, frame, 'refsOf', wanted, most, op.env.refs.next);
  claimRefs(op, frame, answer.nextRef);
  if (answer.error) throw notOneError(frame, parsed, { ...answer, error: answer.error, candidates: [] });
  return { count: answer.count, elements: await tellAll(op, frame, answer.refs, input) };
}

async function tellAll(
  op: Operation,
  frame: Frame,
  refs: number[],
  { props, styles = [], maxChars = DEFAULT_MAX_CHARS }: QueryInput,
): Promise<Told[]> {
  const wanted = FACTS.filter((name) => props.includes(name));
  const style = props.includes('style') ? { names: styles } : null;
  // A little more than may be told, so that what is cut is known to be.
  const facts = await callReader(op, frame, 'facts', refs, wanted, maxChars + 1000, MOST_CHARS, style);
  if (facts === null) throw tooLarge();
  const states = props.includes('state') ? await readHands(op, frame, 'statesOf', refs) : [];
  const byRef = new Map(states.map((state) => [state.ref, state]));
  return facts.map((one) => toldOf(frame, one, byRef.get(one.ref), maxChars));
}

function toldOf(frame: Frame, facts: Facts, state: NodeState | undefined, maxChars: number): Told {
  const { ref, text, html, over, ...rest } = facts;
  const truncated: ('text' | 'html')[] = [];
  const cut = (name: 'text' | 'html', value: string | undefined): Told => {
    if (value === undefined) return {};
    if (over.includes(name) || value.length > maxChars) truncated.push(name);
    return { [name]: value.slice(0, cutAt(value, 0, maxChars)).toWellFormed() };
  };
  return {
    ref: formatRef(frame.ordinal, ref),
    ...cut('text', text),
    ...cut('html', html),
    ...rest,
    ...stateOf(state),
    ...(truncated.length > 0 && { truncated }),
  };
}

function stateOf(state: NodeState | undefined): Told {
  if (state === undefined) return {};
  const { ref: _, ...told } = state;
  return { state: told };
}
