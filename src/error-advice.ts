import type { Suggestion } from './error-table.ts';

/**
 * Suggestions in place of the one of the code's row, where the same code has causes that different things help against.
 * `policy_denied` is by the reason of its decision; the others are named where the error is made.
 */
export const advice = {
  unsupported_media_type: {
    form: {
      en: 'Send the files as multipart/form-data, as curl does with -F file=@NAME.',
      'pt-BR': 'Envie os arquivos como multipart/form-data, como faz o curl com -F file=@NOME.',
    },
  },
  policy_denied: {
    scheme: {
      en: 'Only http and https addresses can be opened; write the scheme in front, as in http://localhost:5173/.',
      'pt-BR':
        'Só endereços http e https podem ser abertos; escreva o esquema na frente, como em http://localhost:5173/.',
    },
    userinfo: {
      en: 'Leave the user and password out of the address; extraHeaders of the session can carry an Authorization.',
      'pt-BR':
        'Retire usuário e senha do endereço; extraHeaders da sessão pode levar um cabeçalho Authorization.',
    },
    metadata: {
      en: 'Do without it: no setting opens the metadata service of a cloud.',
      'pt-BR': 'Siga sem ele: nenhuma configuração libera o serviço de metadados de uma nuvem.',
    },
    self: {
      en: 'Use another address: no setting lets a page reach this service or the floors of its sessions.',
      'pt-BR': 'Use outro endereço: nenhuma configuração permite que uma página alcance este serviço.',
    },
    port: {
      en: 'Serve the page on another port: browsers refuse this one, and no setting opens it.',
      'pt-BR': 'Sirva a página em outra porta: os navegadores recusam esta, e nenhuma configuração a libera.',
    },
    rule: {
      en: 'A deny rule refuses this, whatever is allowed: see `decision.rule`; the operator or the creator of the session can take it out.',
      'pt-BR':
        'Uma regra de negação recusa isto, mesmo que seja permitido: veja `decision.rule`; o operador ou quem criou a sessão pode retirá-la.',
    },
    'invalid-url': {
      en: 'Write the address as in the address bar of a browser: http://host:port/path.',
      'pt-BR': 'Escreva o endereço como na barra de um navegador: http://host:porta/caminho.',
    },
    'invalid-host': {
      en: 'Correct the host: a name of letters, digits and hyphens, or an IP address in its usual form.',
      'pt-BR': 'Corrija o host: um nome de letras, dígitos e hifens, ou um endereço IP na forma usual.',
    },
    'dns-failure': {
      en: 'Check the spelling of the name, and that the name servers of the service know it.',
      'pt-BR': 'Confira a grafia do nome e se os servidores de nomes do serviço o conhecem.',
    },
  },
  tab_not_found: {
    none_open: {
      en: 'Open one with POST tabs.',
      'pt-BR': 'Abra uma com POST tabs.',
    },
  },
  target_not_found: {
    candidates: {
      en: '`candidates` lists what is close; pick one by its ref, or take a new snapshot.',
      'pt-BR': '`candidates` lista o que é parecido; escolha um pelo ref, ou tire um novo snapshot.',
    },
    other_tab: {
      en: 'Send `tab` with the tab that the ref belongs to, or take a snapshot of this one.',
      'pt-BR': 'Envie `tab` com a aba à qual o ref pertence, ou tire um snapshot desta.',
    },
  },
  artifact_not_found: {
    heap: {
      en: 'POST heap/snapshots takes a snapshot and answers its id; GET files lists those that are kept, as ID.heapsnapshot.',
      'pt-BR':
        'POST heap/snapshots tira um snapshot e responde o id; GET files lista os guardados, como ID.heapsnapshot.',
    },
  },
  browser_unavailable: {
    display: {
      en: 'Leave `headless` out, or start the service with DISPLAY or WAYLAND_DISPLAY in its environment.',
      'pt-BR': 'Omita `headless`, ou inicie o serviço com DISPLAY ou WAYLAND_DISPLAY no ambiente.',
    },
    engine: {
      en: 'GET /v1/version lists the browsers that there are: ask for the engine of one, or leave `engine` out.',
      'pt-BR':
        'GET /v1/version lista os navegadores que existem: peça o engine de um deles, ou omita `engine`.',
    },
  },
} as const satisfies Record<string, Readonly<Record<string, Suggestion>>>;

type Table = typeof advice;

/** A name of a suggestion, whatever the code. */
export type Advice = { [Code in keyof Table]: keyof Table[Code] }[keyof Table];

const byCode: ReadonlyMap<string, ReadonlyMap<string, Suggestion>> = new Map(
  Object.entries(advice).map(([code, named]) => [code, new Map<string, Suggestion>(Object.entries(named))]),
);

/** The suggestion of that name for the code, where there is one. */
export function adviceFor(code: string, name: string): Suggestion | undefined {
  return byCode.get(code)?.get(name);
}

/** All that a code may suggest in place of its row's. */
export function allAdvice(code: string): Suggestion[] {
  return [...(byCode.get(code)?.values() ?? [])];
}
