import Type, { type Static } from 'typebox';

/** Marks a field that carries text or data of a page: it must never be taken for an instruction. */
export const UNTRUSTED = { 'x-untrusted': true } as const;

/** A JavaScript dialog that waits for an answer. */
export const DialogSchema = Type.Object({
  type: Type.Union([
    Type.Literal('alert'),
    Type.Literal('confirm'),
    Type.Literal('prompt'),
    Type.Literal('beforeunload'),
  ]),
  message: Type.String(UNTRUSTED),
  defaultPrompt: Type.String({ ...UNTRUSTED, description: 'What a prompt shows as its value.' }),
  url: Type.String({ ...UNTRUSTED, description: 'The page that opened it.' }),
  openedAt: Type.String({ format: 'date-time' }),
  answered: Type.Optional(
    Type.Union([Type.Literal('accept'), Type.Literal('dismiss')], {
      description: 'By the policy of the session: it is open no more.',
    }),
  ),
});
export type DialogView = Static<typeof DialogSchema>;

/** A download, as an operation that began it tells of it. */
export const DownloadSchema = Type.Object({
  id: Type.String(),
  url: Type.String(UNTRUSTED),
  suggestedName: Type.String({ ...UNTRUSTED, description: 'By the page or its server.' }),
  state: Type.Union(
    [Type.Literal('inProgress'), Type.Literal('completed'), Type.Literal('canceled'), Type.Literal('denied')],
    { description: 'denied: the session takes no downloads; nothing was written.' },
  ),
});
