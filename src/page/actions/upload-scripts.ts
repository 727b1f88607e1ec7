/**
 * What upload runs in the isolated world of a frame, each with a file input as `this` (but for the first two): such an
 * input may be in no document, so it has no ref and is reached by its handle only.
 */

/** A file input of our own, in no document. */
export const NEW_FIELD = `(() => {
  const field = document.createElement('input');
  field.type = 'file';
  field.multiple = true;
  return field;
})()`;

/** The file input that an element is, is the label of, or alone holds; nothing for any other. */
export const CONTROL = `function () {
  const isFile = (el) => el instanceof HTMLInputElement && el.type === 'file';
  if (isFile(this)) return this;
  if (this instanceof HTMLLabelElement && isFile(this.control)) return this.control;
  const inside = globalThis.airlock.parts.dom.within(this, 'input[type=file]');
  return inside.length === 1 ? inside[0] : undefined;
}`;

const LIST = 'Array.from(this.files ?? [], ({ name, size, type }) => ({ name, size, type }))';

export const FILES_OF = `function () { return ${LIST}; }`;

export const STATE = `function () {
  return {
    multiple: this.multiple,
    directory: this.webkitdirectory === true,
    disabled: this.matches(':disabled'),
    accept: this.accept,
  };
}`;

/** Takes the choice back, with the events of a user who does: CDP ignores an empty list. */
export const EMPTY = `function () {
  if (this.files.length === 0) return;
  this.value = '';
  for (const type of ['input', 'change'])
    this.dispatchEvent(new Event(type, { bubbles: true, composed: type === 'input' }));
}`;

/** Notes what the input holds when it tells of it, before the listeners of the page can change that. */
export const WATCH = `function () {
  const note = () => { (globalThis.airlockUploads ??= new WeakMap()).set(this, ${LIST}); };
  const undo = new AbortController();
  (globalThis.airlockWatches ??= new WeakMap()).set(this, undo);
  for (const type of ['input', 'change'])
    this.addEventListener(type, note, { capture: true, signal: undo.signal });
}`;

export const READ_BACK = `function () {
  globalThis.airlockWatches?.get(this)?.abort();
  const seen = globalThis.airlockUploads?.get(this);
  globalThis.airlockUploads?.delete(this);
  return { seen, now: ${LIST} };
}`;
