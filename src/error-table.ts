/**
 * The one table of errors, which `errors.ts` hands on: routes, OpenAPI, `/problems/*`, docs and tests all read it, and
 * nothing else invents a code. Statuses follow RFC 9110.
 */

/** What to do next, by language. */
export interface Suggestion {
  readonly en: string;
  readonly 'pt-BR': string;
}

export interface ErrorRow {
  /** HTTP status. */
  readonly status: number;
  /** Short, the same for every occurrence (RFC 9457 `title`). */
  readonly title: string;
  /** True when the same request may succeed later, unchanged. */
  readonly retryable: boolean;
  /** `error-advice.ts` has those of single causes. */
  readonly suggestion: Suggestion;
}

function row(status: number, title: string, retryable: boolean, en: string, ptBR: string): ErrorRow {
  return { status, title, retryable, suggestion: { en, 'pt-BR': ptBR } };
}

export const errorTable = {
  invalid_request: row(
    422,
    'The request does not match the schema',
    false,
    'Correct the field that `detail` names; GET /v1/capabilities lists the schema of each operation.',
    'Corrija o campo indicado em `detail`; GET /v1/capabilities lista o esquema de cada operação.',
  ),
  malformed_body: row(
    400,
    'The request body is not valid JSON',
    false,
    'Send a JSON object with Content-Type: application/json.',
    'Envie um objeto JSON com Content-Type: application/json.',
  ),
  unsupported_media_type: row(
    415,
    'The content type is not supported',
    false,
    'Send JSON with Content-Type: application/json.',
    'Envie JSON com Content-Type: application/json.',
  ),
  unauthorized: row(
    401,
    'A valid bearer token is needed',
    false,
    'Send Authorization: Bearer <token>; the path of the token file is printed when the service starts.',
    'Envie Authorization: Bearer <token>; o caminho do arquivo do token é mostrado quando o serviço inicia.',
  ),
  forbidden_origin: row(
    403,
    'Web pages may not call this service',
    false,
    'Call the service from a program, not from a page of another origin.',
    'Chame o serviço a partir de um programa, não de uma página de outra origem.',
  ),
  misdirected_host: row(
    421,
    'The Host header names a host that this service does not answer to',
    false,
    'Use the address printed at start, or start the service with --host-name NAME.',
    'Use o endereço mostrado ao iniciar, ou inicie o serviço com --host-name NOME.',
  ),
  not_found: row(
    404,
    'There is no such route',
    false,
    'GET /v1/capabilities lists every operation with its method and path.',
    'GET /v1/capabilities lista todas as operações com método e caminho.',
  ),
  method_not_allowed: row(
    405,
    'The route does not answer to this method',
    false,
    'Use one of the methods in the Allow header.',
    'Use um dos métodos do cabeçalho Allow.',
  ),
  session_not_found: row(
    404,
    'There is no such session',
    false,
    'Create one with POST /v1/sessions; GET /v1/sessions lists those that are open.',
    'Crie uma com POST /v1/sessions; GET /v1/sessions lista as abertas.',
  ),
  session_gone: row(
    410,
    'The session has ended',
    false,
    'Create a new session; `reason` and `receipt` say how this one ended.',
    'Crie uma nova sessão; `reason` e `receipt` dizem como esta terminou.',
  ),
  idempotency_key_reused: row(
    422,
    'The Idempotency-Key was used for another body',
    false,
    'Send a new key with a new body; a key gives the session that it made.',
    'Envie uma chave nova com um corpo novo; uma chave devolve a sessão que ela criou.',
  ),
  capacity: row(
    503,
    'The service has no room for another session',
    true,
    'Retry after the time in Retry-After, close a session, or send Prefer: wait=N to queue.',
    'Tente de novo após o tempo em Retry-After, feche uma sessão, ou envie Prefer: wait=N para esperar na fila.',
  ),
  draining: row(
    503,
    'The service is shutting down',
    true,
    'Retry against another instance, or after this one has restarted.',
    'Tente em outra instância, ou depois que esta reiniciar.',
  ),
  lane_full: row(
    429,
    'Too many operations are waiting for this session',
    true,
    'Wait for answers before sending more; one session runs one operation at a time.',
    'Espere respostas antes de enviar mais; uma sessão executa uma operação por vez.',
  ),
  profile_busy: row(
    409,
    'The profile is in use by another session',
    true,
    'Close the other session, or create this one with onBusy: "ephemeral".',
    'Feche a outra sessão, ou crie esta com onBusy: "ephemeral".',
  ),
  policy_denied: row(
    403,
    'The network policy does not allow this',
    false,
    'See `decision`; the operator opens destinations with --allow HOST:PORT or a policy file.',
    'Veja `decision`; o operador libera destinos com --allow HOST:PORT ou um arquivo de política.',
  ),
  invalid_policy: row(
    422,
    'The policy has an entry that cannot be used',
    false,
    'Correct the entry that `detail` names; docs/network-policy.md has the forms.',
    'Corrija a entrada indicada em `detail`; docs/network-policy.md mostra as formas.',
  ),
  navigation_failed: row(
    502,
    'The page could not be loaded',
    true,
    'See `netError`; check the address and that its server is up, then navigate again.',
    'Veja `netError`; confira o endereço e se o servidor está no ar, e navegue de novo.',
  ),
  no_history_entry: row(
    409,
    'There is no page to go to in this direction',
    false,
    'Use navigate with the url that you want.',
    'Use navigate com a url desejada.',
  ),
  timeout: row(
    504,
    'The operation did not finish within its deadline',
    true,
    'Look at `diagnosis`; raise timeoutMs, or wait for a narrower condition.',
    'Veja `diagnosis`; aumente timeoutMs, ou espere por uma condição mais restrita.',
  ),
  cancelled: row(
    499,
    'The operation was cancelled',
    true,
    'Send the request again if the result is still wanted.',
    'Envie a requisição de novo se o resultado ainda for necessário.',
  ),
  tab_not_found: row(
    404,
    'There is no such tab',
    false,
    'GET tabs lists the open tabs; ids are never used again.',
    'GET tabs lista as abas abertas; os ids nunca são reutilizados.',
  ),
  tab_limit: row(
    409,
    'The session has as many tabs as it may have',
    false,
    'Close a tab with DELETE tabs/{tab} first.',
    'Feche uma aba com DELETE tabs/{tab} antes.',
  ),
  frame_not_found: row(
    404,
    'There is no such frame',
    false,
    'GET frames lists the frames of the tab.',
    'GET frames lista os frames da aba.',
  ),
  invalid_target: row(
    422,
    'The target cannot be understood',
    false,
    'Give a ref from a snapshot, a valid CSS selector or XPath, or one of the object forms.',
    'Informe um ref de um snapshot, um seletor CSS ou XPath válido, ou uma das formas de objeto.',
  ),
  target_not_found: row(
    404,
    'Nothing on the page matches the target',
    false,
    'Take a new snapshot and use a ref of it, or correct the target.',
    'Tire um novo snapshot e use um ref dele, ou corrija o alvo.',
  ),
  ambiguous_target: row(
    409,
    'More than one element matches the target',
    false,
    'Pick one of `candidates` by its ref, or add nth.',
    'Escolha um de `candidates` pelo ref, ou acrescente nth.',
  ),
  stale_ref: row(
    409,
    'The ref points to an element that is gone',
    false,
    'Take a new snapshot and use its refs.',
    'Tire um novo snapshot e use os refs dele.',
  ),
  not_interactable: row(
    409,
    'The element cannot be used now',
    true,
    'See `state`; make the element visible and enabled, or pick another.',
    'Veja `state`; torne o elemento visível e habilitado, ou escolha outro.',
  ),
  not_editable: row(
    409,
    'The element does not take text',
    false,
    'See `state`; pick a field that is neither read-only nor disabled.',
    'Veja `state`; escolha um campo que não seja somente leitura nem desabilitado.',
  ),
  covered: row(
    409,
    'Another element covers the target',
    true,
    'See `coveredBy`; close or scroll away what covers it.',
    'Veja `coveredBy`; feche ou role para longe o que o cobre.',
  ),
  not_verified: row(
    409,
    'The action was sent but its effect is not on the page',
    false,
    'Compare `expected` and `actual`; the page may have rewritten the value.',
    'Compare `expected` e `actual`; a página pode ter reescrito o valor.',
  ),
  option_not_found: row(
    409,
    'The list has no such option',
    false,
    'Pick one of `options`.',
    'Escolha uma de `options`.',
  ),
  dialog_open: row(
    409,
    'A dialog is open on the page',
    true,
    'Answer it with POST dialog {"action":"accept"} or {"action":"dismiss"}, then repeat.',
    'Responda com POST dialog {"action":"accept"} ou {"action":"dismiss"}, e repita.',
  ),
  no_dialog: row(
    409,
    'There is no open dialog',
    false,
    'Nothing needs to be answered; go on.',
    'Nada precisa ser respondido; continue.',
  ),
  evaluation_error: row(
    422,
    'The script threw an exception',
    false,
    'See `exception`; correct the script.',
    'Veja `exception`; corrija o script.',
  ),
  assertion_failed: row(
    409,
    'The assertion does not hold',
    false,
    'See `seen` for what the page had instead.',
    'Veja em `seen` o que a página tinha.',
  ),
  cookie_rejected: row(
    422,
    'Chrome did not store the cookie',
    false,
    'See `rejected` for the rule that each cookie breaks.',
    'Veja em `rejected` a regra que cada cookie viola.',
  ),
  cookie_not_found: row(
    404,
    'No cookie matches',
    false,
    'GET cookies lists them; a partitioned cookie is deleted with its partitionKey.',
    'GET cookies lista os cookies; um cookie particionado é apagado com sua partitionKey.',
  ),
  storage_rejected: row(
    422,
    'Chrome did not store the items',
    false,
    'See `rejected` for the items and why; an origin holds about 10 MiB. What was stored before is unchanged.',
    'Veja em `rejected` os itens e o motivo; uma origem guarda cerca de 10 MiB. O que já estava guardado não mudou.',
  ),
  page_crashed: row(
    502,
    'The page crashed',
    true,
    'Navigate again; the tab is usable.',
    'Navegue de novo; a aba continua utilizável.',
  ),
  browser_crashed: row(
    410,
    'The browser of this session died',
    false,
    'Create a new session; `receipt` shows that nothing of this one is left.',
    'Crie uma nova sessão; `receipt` mostra que nada desta restou.',
  ),
  floor_down: row(
    503,
    'The network floor of this session is down',
    false,
    'Nothing can be loaded any more; close the session and create a new one.',
    'Nada mais pode ser carregado; feche a sessão e crie outra.',
  ),
  too_large: row(
    413,
    'The content is over the limit',
    false,
    'Send or ask for less; see the limit in `detail`.',
    'Envie ou peça menos; veja o limite em `detail`.',
  ),
  quota_exceeded: row(
    507,
    'The session has used up its disk quota',
    false,
    'Delete files of the session, or close it.',
    'Apague arquivos da sessão, ou feche-a.',
  ),
  disk_full: row(
    507,
    'The disk is full',
    true,
    'Free space on the disk that holds the runtime directory.',
    'Libere espaço no disco que contém o diretório de execução.',
  ),
  artifact_not_found: row(
    404,
    'The session has no such file',
    false,
    'GET files lists the files of the session; use a name from there.',
    'GET files lista os arquivos da sessão; use um nome de lá.',
  ),
  browser_unavailable: row(
    503,
    'No browser can be started',
    true,
    'GET /v1/doctor says what is missing and how to mend it.',
    'GET /v1/doctor diz o que falta e como corrigir.',
  ),
  internal: row(
    500,
    'The service has a fault',
    true,
    'Report it with the requestId; the log has the cause.',
    'Relate o problema com o requestId; o log tem a causa.',
  ),
} as const satisfies Record<string, ErrorRow>;
