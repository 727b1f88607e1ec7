import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readHtml, readMarkdown, readText } from '../../../src/page/reading/content.ts';
import { readLinks } from '../../../src/page/reading/links.ts';
import { ActionPage } from '../../support/action-page.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/pages/', import.meta.url));
const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.html'));

function serve(type: string, body: string) {
  return (_: IncomingMessage, response: ServerResponse) =>
    response.writeHead(200, { 'content-type': type }).end(body);
}

const page = new ActionPage({
  ...Object.fromEntries(
    names.map((name) => [
      `/${name}`,
      serve('text/html; charset=utf-8', readFileSync(FIXTURES + name, 'utf8')),
    ]),
  ),
  '/svg': serve(
    'image/svg+xml',
    '<svg xmlns="http://www.w3.org/2000/svg"><title>Pic</title><a href="/x"><text y="20">Drawn</text></a></svg>',
  ),
  '/xml': serve(
    'application/xhtml+xml',
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head><body><p>One</p><p>Two</p></body></html>',
  ),
  '/json': serve('application/json', '{"a": [1, 2]}'),
  '/plain': serve('text/plain; charset=utf-8', 'one\n  two <b>\n'),
  '/nothing': serve('text/html', ''),
  '/frameset': serve(
    'text/html',
    '<frameset cols="50%,50%"><frame src="/plain"><frame src="/xml"></frameset>',
  ),
});

test.each(names)('%s as HTML is what the engine says, shadow roots and secrets apart', async (name) => {
  await page.goto(`/${name}`);
  const { content } = await page.run((op) => readHtml(op, { maxChars: 10_000_000 }));
  const engine = String(
    await page.eval(
      `[...document.childNodes].map((node) => node.nodeType === 10 ? '<!DOCTYPE ' + node.name + '>' : node.outerHTML ?? '<!--' + node.nodeValue + '-->').join('')`,
    ),
  );
  let plain = content;
  // Inner ones first.
  const root = /<template shadowrootmode="\w+">(?:(?!<template shadowrootmode)[\s\S])*?<\/template>/g;
  while (root.test(plain)) plain = plain.replace(root, '');
  const secret = (html: string) =>
    html
      .replace(/(type="password"[^>]*? value=)"[^"]*"/g, '$1"…"')
      .replace(/( value=)"[^"]*"([^>]*? type="password")/g, '$1"…"$2');
  expect(secret(plain)).toBe(secret(engine));
});

test.each([
  ['/svg', 'Drawn', 'Drawn'],
  ['/xml', 'One\n\nTwo', 'One\n\nTwo'],
  ['/json', '{"a": [1, 2]}', '```\n{"a": [1, 2]}\n```'],
  ['/plain', 'one\n  two <b>', '```\none\n  two <b>\n```'],
  ['/nothing', '', ''],
  ['/frameset', 'one\n  two <b>\nOne\n\nTwo', '```\none\n  two <b>\n```\n\nOne\n\nTwo'],
])('%s is read', async (path, text, markdown) => {
  await page.goto(path);
  expect((await page.run((op) => readText(op, {}))).content).toBe(text);
  if (path !== '/svg') expect((await page.run((op) => readMarkdown(op, {}))).content).toBe(markdown);
  await page.run((op) => readLinks(op, {}));
});

test('a document without a root element is empty', async () => {
  await page.goto('/nothing');
  await page.eval('document.documentElement.remove(); 0');
  for (const read of [readText, readHtml, readMarkdown]) {
    expect((await page.run((op) => read(op, {}))).content).toBe('');
  }
  expect((await page.run((op) => readLinks(op, {}))).links).toEqual([]);
});

test('broken characters of a page become ones that can be sent', async () => {
  await page.goto('/nothing');
  await page.eval(
    "document.title = 'T\\ud800'; document.body.innerHTML = '<p></p>'; document.querySelector('p').append('a\\ud83d', '\\u0000b', '\\ude00c', '\\ufffe'); document.querySelector('p').title = '\\udc00'; 0",
  );
  for (const read of [readText, readHtml, readMarkdown]) {
    const { content, title } = await page.run((op) => read(op, {}));
    expect([content.isWellFormed(), title.isWellFormed()]).toEqual([true, true]);
    expect(content).toContain('a');
  }
});
