import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { accepts, upload } from '../../../src/page/actions/upload.ts';
import { snapshot } from '../../../src/page/snapshot/snapshot.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': '<title>Upload</title><body>',
  '/frames': '<iframe src="CROSS/inner" style="width:300px;height:100px"></iframe>',
  '/inner':
    '<input id=in type=file multiple><button onclick="document.querySelector(\'#in\').click()">Choose</button>',
});

const dir = () => page.chrome.env.filesDir;
/** What the page saw, event by event. */
const LOG = `<script>log = []; for (const type of ['input', 'change']) addEventListener(type, async (e) => {
  const files = e.target.files; if (files) log.push(type + ':' + [...files].map((f) => f.name + ' ' + f.size + ' ' + f.type).join()) }, true)</script>`;

async function show(body: string): Promise<void> {
  await page.goto();
  await page.eval(
    `document.write(${JSON.stringify(`<!doctype html><body>${body}${LOG}`)}); document.close(); 0`,
  );
}

beforeEach(async () => {
  await writeFile(join(dir(), 'a.txt'), 'hello');
  await writeFile(join(dir(), 'résumé 日.pdf'), 'pdf!');
  await writeFile(join(dir(), 'p.png'), 'png');
  await writeFile(join(dir(), 'empty.txt'), '');
});

test('files are given, input and change fire once, and the page can read them', async () => {
  await show('<input id=f type=file multiple>');
  const result = await page.run((op) =>
    upload(op, { target: '#f', files: ['a.txt', 'résumé 日.pdf', 'empty.txt'] }),
  );
  expect(result).toMatchObject({
    ok: true,
    navigated: false,
    files: [
      { name: 'a.txt', size: 5, type: 'text/plain' },
      { name: 'résumé 日.pdf', size: 4, type: 'application/pdf' },
      { name: 'empty.txt', size: 0, type: 'text/plain' },
    ],
  });
  const seen = 'a.txt 5 text/plain,résumé 日.pdf 4 application/pdf,empty.txt 0 text/plain';
  expect(await page.eval('log')).toEqual([`input:${seen}`, `change:${seen}`]);
  expect(await page.eval('f.files[0].text()')).toBe('hello');
});

test.each([
  ['hidden', '<input id=f type=file style="display:none">'],
  ['invisible', '<input id=f type=file style="visibility:hidden;opacity:0;width:0">'],
  ['inside its hidden label', '<label hidden><input id=f type=file></label>'],
])('an input that is %s takes files too', async (_, body) => {
  await show(body);
  expect((await page.run((op) => upload(op, { target: '#f', files: ['a.txt'] }))).files).toHaveLength(1);
  expect(await page.eval('f.files[0].text()')).toBe('hello');
});

test('the label of a file input stands for it, by the ref of a snapshot', async () => {
  await show('<label>Your photo <input id=f type=file style="display:none"></label>');
  const { text } = await page.run((op) => snapshot(op, {}));
  const ref = /\[ref=(e\d+)\]/.exec(text)?.[1] ?? '';
  await page.run((op) => upload(op, { target: ref, files: ['a.txt'] }));
  expect(await page.eval('f.files[0].name')).toBe('a.txt');
});

test('a button whose click opens a chooser for a hidden input', async () => {
  await show('<input id=f type=file hidden><button onclick="f.click()">Choose</button>');
  const result = await page.run((op) =>
    upload(op, { target: { role: 'button', name: 'Choose' }, files: ['a.txt'] }),
  );
  expect(result.files).toEqual([{ name: 'a.txt', size: 5, type: 'text/plain' }]);
  expect(await page.eval('f.files[0].text()')).toBe('hello');
});

test('a button that makes the input when it is clicked, in no document, a moment later', async () => {
  await show(`<button>Attach</button><script>got = null; document.querySelector('button').onclick = () => setTimeout(() => {
    const made = document.createElement('input'); made.type = 'file'; made.multiple = true;
    made.onchange = async () => { got = await Promise.all([...made.files].map((f) => f.text())); made.value = '' }; made.click(); }, 200)</script>`);
  const result = await page.run((op) => upload(op, { target: 'button', files: ['a.txt', 'p.png'] }));
  expect(result.files?.map(({ name }) => name)).toEqual(['a.txt', 'p.png']);
  await expect.poll(() => page.eval('got')).toEqual(['hello', 'png']);
});

test('a zone that holds one input, also in a shadow root', async () => {
  await show(`<div id=zone>Drop here<input type=file hidden></div><x-up></x-up><script>customElements.define('x-up', class extends HTMLElement {
    constructor() { super(); (this.root = this.attachShadow({ mode: 'closed' })).innerHTML = 'Drop<input type=file>'; } })</script>`);
  await page.run((op) => upload(op, { target: '#zone', files: ['a.txt'] }));
  expect(await page.eval("document.querySelector('#zone input').files[0].name")).toBe('a.txt');
  await page.run((op) => upload(op, { target: 'x-up', files: ['a.txt'] }));
  expect(await page.eval("document.querySelector('x-up').root.querySelector('input').files[0].name")).toBe(
    'a.txt',
  );
});

test('choosers open again after it, and the next upload works', async () => {
  await show('<input id=f type=file hidden><button onclick="f.click()">Choose</button>');
  for (const name of ['a.txt', 'p.png']) {
    await page.run((op) => upload(op, { target: 'button', files: [name] }));
    expect(await page.eval('f.files[0].name')).toBe(name);
  }
});

test('in a frame of another site, by the input and by a button', async () => {
  await page.goto('/frames');
  for (const [selector, files] of [
    ['#in', ['a.txt']],
    ['button', ['p.png', 'a.txt']],
  ] as const) {
    const frame = page.server.url('/inner', 'localhost');
    await page.run((op) => upload(op, { target: { selector, frame }, files: [...files] }));
    expect(
      await page.evalIn('/inner', "[...document.querySelector('#in').files].map((f) => f.name)"),
    ).toEqual(files);
  }
});

test('an input that a page empties as soon as it has the files has taken them', async () => {
  await show(`<input id=f type=file onchange="names = [...this.files].map((f) => f.name); this.value = ''">`);
  const result = await page.run((op) => upload(op, { target: '#f', files: ['a.txt'] }));
  expect(result.files).toEqual([{ name: 'a.txt', size: 5, type: 'text/plain' }]);
  expect(await page.eval('names')).toEqual(['a.txt']);
});

test('an input whose form is sent at once', async () => {
  await show('<form action="/" method=get><input id=f type=file onchange="this.form.submit()"></form>');
  const result = await page.run((op) => upload(op, { target: '#f', files: ['a.txt'] }));
  expect(result.navigated).toBe(true);
});

test('no files take the choice back', async () => {
  await show('<input id=f type=file>');
  await page.run((op) => upload(op, { target: '#f', files: ['a.txt'] }));
  expect((await page.run((op) => upload(op, { target: '#f', files: [] }))).files).toEqual([]);
  expect(await page.eval('[f.files.length, log.length]')).toEqual([0, 4]);
});

test('a dialog that the page opens on it ends the upload, and is in the answer', async () => {
  await show('<input id=f type=file onchange="alert(this.files[0].name)">');
  const result = await page.run((op) => upload(op, { target: '#f', files: ['a.txt'] }));
  expect(result.dialog?.message).toBe('a.txt');
  await page.tab.answerDialog(true);
});

describe('refused before anything is touched', () => {
  const cases: [
    string,
    string,
    string[],
    'artifact_not_found' | 'invalid_request' | 'not_interactable',
    RegExp,
  ][] = [
    [
      'a missing file',
      '<input id=f type=file multiple>',
      ['a.txt', 'missing.txt'],
      'artifact_not_found',
      /"missing\.txt"/,
    ],
    [
      'a name that leads elsewhere',
      '<input id=f type=file>',
      ['../../etc/passwd'],
      'artifact_not_found',
      /passwd/,
    ],
    ['an absolute path', '<input id=f type=file>', ['/etc/passwd'], 'artifact_not_found', /passwd/],
    ['a dot name', '<input id=f type=file>', ['..'], 'artifact_not_found', /\.\./],
    ['a directory', '<input id=f type=file>', ['folder'], 'artifact_not_found', /folder/],
    ['a link', '<input id=f type=file>', ['link.txt'], 'artifact_not_found', /link/],
    [
      'several for an input of one',
      '<input id=f type=file>',
      ['a.txt', 'p.png'],
      'invalid_request',
      /takes one file, not 2/,
    ],
    [
      'a type that is not accepted',
      '<input id=f type=file accept="image/*,.pdf">',
      ['a.txt'],
      'invalid_request',
      /accepts image\/\*,\.pdf, not a\.txt \(text\/plain\)/,
    ],
    [
      'a disabled input',
      '<fieldset disabled><input id=f type=file></fieldset>',
      ['a.txt'],
      'not_interactable',
      /disabled/,
    ],
    [
      'an input of a directory',
      '<input id=f type=file webkitdirectory>',
      ['a.txt'],
      'invalid_request',
      /directory/,
    ],
  ];
  test.each(cases)('%s', async (_, body, files, code, message) => {
    await mkdir(join(dir(), 'folder'), { recursive: true });
    await rm(join(dir(), 'link.txt'), { force: true });
    await symlink('/etc/passwd', join(dir(), 'link.txt'));
    await show(body);
    const error = await problem(
      page.run((op) => upload(op, { target: '#f', files })),
      code,
    );
    expect(error.message).toMatch(message);
    expect(await page.eval('[log.length, f.files.length]')).toEqual([0, 0]);
  });

  test('no file at all', async () => {
    await show('<input id=f type=file>');
    await problem(
      page.run((op) => upload(op, { target: '#f' })),
      'invalid_request',
    );
  });

  test('a target that there is none of', async () => {
    await show('<input id=f type=file>');
    await problem(
      page.run((op) => upload(op, { target: '#g', files: ['a.txt'] })),
      'target_not_found',
    );
  });
});

test('a click that opens no chooser is an error that says so', async () => {
  await show('<button onclick="clicked = 1">Nothing</button><input id=f type=file>');
  const error = await problem(
    page.run((op) => upload(op, { target: 'button', files: ['a.txt'] })),
    'not_interactable',
  );
  expect(error.message).toMatch(/opened no file chooser/);
  expect(await page.eval('clicked')).toBe(1);
});

test('a file that came with the request has its own name and bytes', async () => {
  const own = await mkdtemp(join(tmpdir(), 'upload-'));
  await writeFile(join(own, 'a.txt'), 'another');
  await show('<input id=f type=file multiple>');
  const stored = { files: [{ path: join(own, 'a.txt'), name: 'a.txt', size: 7 }], given: false };
  const result = await page.run((op) => upload(op, { target: '#f', files: ['a.txt'] }, stored));
  expect(result.files?.map(({ name, size }) => [name, size])).toEqual([
    ['a.txt', 5],
    ['a.txt', 7],
  ]);
  expect(await page.eval('Promise.all([...f.files].map((file) => file.text()))')).toEqual([
    'hello',
    'another',
  ]);
  await rm(own, { recursive: true });
});

test('a file that goes away between the look and the use is no success', async () => {
  await show('<input id=f type=file multiple>');
  const stored = { files: [{ path: join(dir(), 'gone.txt'), name: 'gone.txt', size: 7 }], given: false };
  await problem(
    page.run((op) => upload(op, { target: '#f' }, stored)),
    'artifact_not_found',
  );
  expect(await page.eval('[log.length, f.files.length]')).toEqual([0, 0]);
});

test.each([
  ['', 'x.bin', '', true],
  ['.TXT', 'a.txt', '', true],
  ['image/*', 'a.png', 'image/png', true],
  ['image/png', 'a.jpg', 'image/jpeg', false],
  ['audio/*, .pdf', 'a.pdf', 'application/pdf', true],
  ['.gz', 'a.tar.gz', 'application/gzip', true],
  ['.txt', 'txt', '', false],
])('accept=%j with %s of type %j: %s', (accept, name, type, expected) => {
  expect(accepts(accept, { name, type })).toBe(expected);
});
