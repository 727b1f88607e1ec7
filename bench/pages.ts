/** The pages that the bench loads; all made here, none from the network. */

export function page(title: string, body: string): string {
  return `<!doctype html><html lang=en><meta charset=utf-8><link rel=icon href=data:,><title>${title}</title>${body}`;
}

/** A sign-in form: some 30 elements. */
export const small = page(
  'Small',
  `<header><a href="#home">Home</a><nav><ul><li><a href="#a">Products</a><li><a href="#b">Prices</a></ul></nav></header>
<main><h1>Sign in</h1><p>Welcome back, please sign in.</p><form><label>Email <input type=email required></label>
<label>Password <input type=password></label><label><input type=checkbox> Remember me</label><button type=button>Sign in</button>
<a href="#forgot">Forgot it?</a></form></main><footer>© Example</footer>`,
);

/** A button that counts its clicks in `clicks`. */
export const button = page(
  'Button',
  `<style>body{font:16px sans-serif}</style><h1>Counter</h1><p>Some text above it.</p>
<button id=b onclick="clicks += 1; out.textContent = clicks">Add one</button> <output id=out>0</output>
<script>var clicks = 0, out = document.getElementById('out')</script>`,
);

const row = (i: number): string =>
  `<tr><td>${i}</td><td><a href="#r${i}">Order ${i}</a></td><td><button>Edit ${i}</button></td><td><input type=checkbox aria-label="Select ${i}"></td></tr>`;

/** A table whose rows have a link, a button and a checkbox: 8 elements a row. */
export function table(rows: number): string {
  const body = Array.from({ length: rows }, (_, i) => row(i)).join('');
  return page(
    'Table',
    `<style>button{cursor:pointer}tr:hover{background:#eee}</style><table>${body}</table>`,
  );
}

const card = (i: number): string =>
  `<div class=card><div><div><h3>Card ${i}</h3><p>Some <b>text</b> of card ${i} with <a href="#c${i}">a link</a>.</p></div><div><span>${i}</span><span> pieces</span><div role=button tabindex=0>Buy</div></div></div></div>`;

/** Nested divs as a component library makes them: 12 elements a card, one role=button and one link. */
export function cards(count: number): string {
  const body = Array.from({ length: count }, (_, i) => card(i)).join('');
  return page(
    'Cards',
    `<style>.card{padding:4px}.card::before{content:""}[role=button]{cursor:pointer}</style>${body}`,
  );
}

/** The sub-resources of {@link many}: 10 style sheets, 30 scripts, 60 images. */
export const MANY = 100;

/** The kind of the n-th sub-resource, 1 to 100. */
export function kindOf(n: number): 'css' | 'js' | 'png' {
  return n <= 10 ? 'css' : n <= 40 ? 'js' : 'png';
}

/** A page of 100 sub-resources over the given origins, all of which its `load` event waits for. */
export function many(origins: readonly string[]): string {
  const tags = Array.from({ length: MANY }, (_, i) => {
    const url = `${origins[i % origins.length] ?? ''}/many/${i + 1}.${kindOf(i + 1)}`;
    if (url.endsWith('css')) return `<link rel=stylesheet href="${url}">`;
    if (url.endsWith('js')) return `<script src="${url}" defer></script>`;
    return `<img src="${url}" width=16 height=16 alt="">`;
  });
  return page('Many', `<h1>Many</h1>${tags.join('')}`);
}

/** What row 13 does in a loop: some text, a list, a button that counts. */
export function loopPage(n: string): string {
  const items = Array.from({ length: 40 }, (_, i) => `<li><a href="#i${i}">Item ${i}</a>`).join('');
  return page(
    `Loop ${n}`,
    `<h1>Loop ${n}</h1><ul>${items}</ul><button id=b onclick="clicks += 1">Add</button><script>var clicks = 0</script>`,
  );
}
